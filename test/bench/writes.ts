// register_name and release, which are durable before the response: by one client and by 32, beside plain commits of
// the same rows and beside etcd if it is installed, in slices of one run. Other load of the machine shows at its end.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';

import { kill } from '#test/fixtures/processes/kill.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { logFrames } from '#test/fixtures/records/log-frames.ts';
import { isEtcdInstalled, putRequest, startEtcd } from './harness/etcd.ts';
import type { Measured, Turns } from './harness/load.ts';
import { median, openLoad, processorTime, startServer, stopServer, watchMachine } from './harness/measure.ts';
import type { RawWrites } from './harness/raw-writes.ts';
import { fillStore } from './harness/store.ts';

/** Changes in a slice. */
const slice = 400;
const rounds = 5;
/** Slices before the first that counts: a server that is not compiled yet costs twice as much. */
const warmup = 8;

interface Bench {
  directory: string;
  token: string;
  store: Served;
  raw: Served;
  /** Undefined if it is not installed. */
  etcd: Served | undefined;
}

/** A process that answers, and where. */
interface Served {
  child: ChildProcess;
  port: number;
}

/** A slice of one side. */
interface Slice extends Measured {
  /** Microseconds of all threads of the process that writes, a change. */
  processors: number;
  /** Bytes that this process had written, a change. */
  written: number;
}

type Change = RawWrites['change'];

/** The writes of a slice: names that end with three digits, and the revision to release. */
interface Place {
  name: string;
  revision: number;
}

let places = 0;

/** Another place for each slice: free names, and a revision that was not released in these packages before. */
function place(change: Change): Place {
  const number = places++;
  return {
    name: change === 'register_name' ? `new-${String(number).padStart(3, '0')}-` : `snap-${String(1 + (number % 9))}`,
    revision: 2 + (Math.floor(number / 9) % 9),
  };
}

/** The last digits of the names, as a client puts them in: in no order, as names are. */
const digits = Array.from({ length: 10 }, (_, digit) => String(digit));
const numbers = Array.from({ length: slice }, (_, number) =>
  Array.from(String(number).padStart(3, '0')).reverse().join(''),
);

/** Prints each change by 1 client, by 32, and raw: the rates, the cost of a change, and the bytes that it writes. */
export async function writes(): Promise<void> {
  const bench = await prepare();
  const machine = watchMachine(
    bench.store.child,
    bench.raw.child,
    ...(bench.etcd === undefined ? [] : [bench.etcd.child]),
  );
  for (const change of ['register_name', 'release'] as const) {
    const sides: Record<string, (place: Place) => Promise<Slice>> = {
      'raw commits': (place) => raw(bench, change, place),
      'bare server': (place) => ask(bench, bench.raw, change, 1, place),
      'bare, by 32': (place) => ask(bench, bench.raw, change, 32, place),
      '1 client': (place) => ask(bench, bench.store, change, 1, place),
      '32 clients': (place) => ask(bench, bench.store, change, 32, place),
      ...(change === 'register_name' && besideEtcd(bench)),
    };
    for (let done = 0; done < warmup; done++) {
      await raw(bench, change, place(change));
      await ask(bench, bench.raw, change, 8, place(change));
      await ask(bench, bench.store, change, 8, place(change));
    }
    const slices = new Map(Object.keys(sides).map((name) => [name, [] as Slice[]]));
    for (let round = 0; round < rounds; round++) {
      for (const [name, side] of Object.entries(sides)) {
        slices.get(name)!.push(await side(place(change)));
      }
    }
    console.log(`${change}: 10,000 packages, 100,000 revisions; ${rounds} slices of ${slice} changes each`);
    for (const [name, figures] of slices) print(name, figures);
    const rates = (name: string): number[] => slices.get(name)!.map(({ requestsPerSecond }) => requestsPerSecond);
    const ratio = (name: string, to: string): string => {
      const each = rates(name).map((rate, at) => rate / rates(to)[at]!);
      return `${median(each).toFixed(2)} (${each.map((quotient) => quotient.toFixed(2)).join(', ')})`;
    };
    console.log(`  1 client to raw commits ${ratio('1 client', 'raw commits')}`);
    console.log(
      `  1 client of bare node:http that commits the same to raw commits ${ratio('bare server', 'raw commits')}`,
    );
    console.log(`  32 clients to 1 client  ${ratio('32 clients', '1 client')}`);
    console.log(`  the same of bare node:http, which commits together too ${ratio('bare, by 32', 'bare server')}`);
    if ('etcd, by 32' in sides) {
      console.log(`  32 clients to etcd      ${ratio('32 clients', 'etcd, by 32')}`);
      console.log(`  64 clients to etcd      ${ratio('64 clients', 'etcd, by 64')}`);
    }
    for (const clients of [1, 32]) await countPages(bench, change, clients);
  }
  console.log(`  ${machine()}`);
  await stopServer(bench.raw.child);
  await stopServer(bench.store.child);
  if (bench.etcd !== undefined) await kill(bench.etcd.child);
  rmSync(bench.directory, { recursive: true, force: true });
}

async function prepare(): Promise<Bench> {
  const { directory, store, token, packageIds } = await fillStore(10_000, 10);
  const at = new Date().toISOString();
  // Every channel holds something before, so that a release is one as it is most of the time.
  await store.records.change({ at, actor: 'bench', action: 'fill', object: 'store' }, async (tx) => {
    const fill = filler(tx, at);
    for (const packageId of packageIds) {
      const slot = { slot: 'amd64', architecture: 'amd64' };
      await fill.release({ packageId, channel: 'latest/stable', revision: 1, ...slot });
      await tx.packages.publish(packageId);
    }
  });
  await store.close();
  const copy = join(directory, 'raw.db');
  copyFileSync(join(directory, 'larder.db'), copy);
  return {
    directory,
    token,
    store: await serve('store-server.ts', directory),
    raw: await serve('raw-writes.ts', copy),
    etcd: isEtcdInstalled() ? await startEtcd(join(directory, 'etcd')) : undefined,
  };
}

/** More sides of `register_name`, if etcd is installed: by 64 clients, and puts of etcd by as many. */
const besideEtcd = (bench: Bench): Record<string, (place: Place) => Promise<Slice>> | false =>
  bench.etcd !== undefined && {
    '64 clients': (place) => ask(bench, bench.store, 'register_name', 64, place),
    'etcd, by 32': (place) => put(bench.etcd!, 32, place),
    'etcd, by 64': (place) => put(bench.etcd!, 64, place),
  };

async function put({ child, port }: Served, connections: number, { name }: Place): Promise<Slice> {
  const request = putRequest(name);
  const client = await openLoad({ port, request, turns: turnsIn(request), connections, sleeps: true });
  try {
    return await accounted(child, () => client.slice({ requests: slice }));
  } finally {
    await client.close();
  }
}

async function serve(module: string, argument: string): Promise<Served> {
  const { child, told: ready } = await startServer<{ port: number }>(module, argument);
  return { child, port: ready.port };
}

const raw = ({ raw: { child } }: Bench, change: Change, { name, revision }: Place): Promise<Slice> =>
  accounted(child, async () => {
    child.send({ change, revision, names: numbers.map((number) => name + number) } satisfies RawWrites);
    const [measured] = (await once(child, 'message')) as [Measured];
    return measured;
  });

async function ask(
  bench: Bench,
  { child, port }: Served,
  change: Change,
  connections: number,
  place: Place,
): Promise<Slice> {
  const client = await openLoad({ port, ...requestOf(bench, change, place), connections, sleeps: true });
  try {
    return await accounted(child, () => client.slice({ requests: slice }));
  } finally {
    await client.close();
  }
}

async function accounted(child: ChildProcess, work: () => Promise<Measured>): Promise<Slice> {
  const before = { processors: processorTime(child), written: bytesWritten(child) };
  const measured = await work();
  if (measured.failures > 0) throw new Error(`cannot measure: ${measured.failures} changes failed`);
  const processors = ((processorTime(child) - before.processors) * 1000) / measured.requests;
  return { ...measured, processors, written: (bytesWritten(child) - before.written) / measured.requests };
}

/** A request about names of a place; the last digits take turns. */
function requestOf({ token }: Bench, change: Change, { name, revision }: Place): { request: string; turns: Turns } {
  const [path, input] =
    change === 'register_name'
      ? ['/v1/snap', { name: `${name}###` }]
      : [`/v1/snap/${name}###/releases`, [{ channel: 'latest/stable', revision }]];
  const body = JSON.stringify(input);
  const request =
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Macaroon ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  return { request, turns: turnsIn(request) };
}

function turnsIn(request: string): Turns {
  const at = request.indexOf('###');
  return { places: [at, at + 1, at + 2], texts: digits, different: 1000 };
}

/** Prints how many pages and commits some changes are in the log of the database, which is empty before them. */
async function countPages(bench: Bench, change: Change, clients: number): Promise<void> {
  const file = join(bench.directory, 'larder.db');
  const sums = { pages: 0, commits: 0, changes: 0 };
  for (let round = 0; round < 10; round++) {
    const client = await openLoad({
      port: bench.store.port,
      ...requestOf(bench, change, place(change)),
      connections: clients,
      sleeps: true,
    });
    const db = new SQLite(file);
    db.pragma('wal_checkpoint(TRUNCATE)');
    db.close();
    // So few that the log is not folded into the database in between.
    const { requests, failures } = await client.slice({ requests: 64 });
    if (failures > 0) throw new Error(`cannot count: ${failures} changes failed`);
    const { pages, commits } = logFrames(file);
    await client.close();
    sums.pages += pages;
    sums.commits += commits;
    sums.changes += requests;
  }
  const each = (sum: number): string => (sum / sums.changes).toFixed(2);
  console.log(
    `  ${String(clients).padStart(2)} client${clients === 1 ? ' ' : 's'}: ${each(sums.pages)} pages and ${each(sums.commits)} commits a change`,
  );
}

/** Bytes that a process has had sent to the disk. */
const bytesWritten = ({ pid }: ChildProcess): number =>
  Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${String(pid)}/io`, 'latin1'))?.[1]);

function print(name: string, figures: Slice[]): void {
  const middle = (of: (figure: Slice) => number, digits: number): string => median(figures.map(of)).toFixed(digits);
  console.log(
    `  ${name.padEnd(12)} ${middle((result) => result.requestsPerSecond, 0).padStart(6)} changes/s   ` +
      `p50 ${middle((result) => result.p50, 2)} ms   p99 ${middle((result) => result.p99, 2)} ms   ` +
      `${middle((result) => result.processors, 0)} µs of the processors and ${middle((result) => result.written / 1024, 1)} KiB written a change`,
  );
}

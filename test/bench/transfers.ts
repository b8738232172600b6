// Transfers between two stores of many packages: their size, the rates of receiving and accepting, and the memory,
// beside restic with the same bytes.
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { toAssertionRecord } from '#acts/assertions/assertions.ts';
import type { Assertion } from '#assertions/format/assertion.ts';
import { nameOf } from '#assertions/format/types.ts';
import type { ReceivedBlob } from '#blobs/blobs.ts';
import { withBlobs } from '#data/blobs.ts';
import { newWrappingKey } from '#data/secrets.ts';
import { changeConfig, initialConfig } from '#configuration/config.ts';
import { storeKey } from '#test/assertions/world.ts';
import { filler, snapDetails } from '#test/fixtures/records/filler.ts';
import {
  declaration,
  offered,
  publisher,
  rootsFile,
  snapOf,
  snapRevision,
} from '#test/fixtures/packages/online-store.ts';
import { openStore } from '#test/fixtures/records/writable.ts';
import { peakMemory, watchMachine } from './harness/measure.ts';
import { firstSettings } from './harness/store.ts';

const long = process.env['LARDER_LONG'] === '1';
/** Each snap has so many bytes; and one file beside them that is larger than any memory should be. */
const size = {
  packages: Number(process.env['LARDER_PACKAGES'] ?? (long ? 10_000 : 1000)),
  bytes: 256 * 1024,
  large: (long ? 4096 : 512) * 1024 * 1024,
};
const root = join(import.meta.dirname, '../..');
const executable = join(root, 'dist/larder');
/** The executable, if it was built: with the sources, each thread strips the types, which takes memory and time. */
const program: readonly [string, ...string[]] = existsSync(executable)
  ? [executable]
  : [process.execPath, join(root, 'src/main.ts')];

/** Prints the figures of transfers; LARDER_LONG=1 takes 10,000 packages, or as many as LARDER_PACKAGES says, and a file of 4 GiB. */
export const transfers = (): Promise<void> =>
  between(
    `${String(size.packages)} snaps of ${String(size.bytes / 1024)} KiB`,
    async ({ folder, depot, here: receiver, stick }) => {
      const ids = namesOf(size.packages);
      await fill(depot, ids, 1);
      await introduce(depot, receiver, stick);
      const first = await cross(depot, receiver, join(stick, 'first.tar'));
      await fill(depot, ids.slice(0, Math.ceil(ids.length / 100)), 2);
      const changed = Math.ceil(ids.length / 100) * size.bytes;
      const second = await cross(depot, receiver, join(stick, 'second.tar'));
      print('1 % changed', `${(second.bytes / changed).toFixed(3)} of the changed bytes (at most 1.05)`);
      const third = await cross(depot, receiver, join(stick, 'third.tar'));
      print('nothing changed', `${(third.bytes / 1e6).toFixed(2)} MB (at most 1)`);
      compareReceiving(join(stick, 'first.tar'), first, folder);
      await large(depot, receiver, stick);
    },
  );

/**
 * The same of snaps that have all assertions of their own, which the site that they come to holds against its roots. They are small, so that
 * the assertions are most of the work; of the usual size with LARDER_LONG=1.
 */
export const signedTransfers = (): Promise<void> => {
  const bytes = long ? size.bytes : 16 * 1024;
  const title = `${String(size.packages)} snaps of ${String(bytes / 1024)} KiB with their assertions`;
  return between(title, async ({ folder, depot, here: receiver, stick }) => {
    const ids = namesOf(size.packages);
    await fill(depot, ids, 1, { bytes, isSigned: true });
    await introduce(depot, receiver, stick);
    const first = await cross(depot, receiver, join(stick, 'first.tar'));
    compareReceiving(join(stick, 'first.tar'), first, folder);
  });
};

interface Between {
  folder: string;
  depot: string;
  here: string;
  stick: string;
}

/** Makes two sites, and a stick between them. */
async function between(title: string, work: (sites: Between) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'larder-bench-transfers-'));
  const machine = watchMachine();
  try {
    console.log(`transfers: ${title}`);
    console.log(`  by ${program.length === 1 ? 'the executable' : 'the sources (npm run build:executable)'}`);
    const [depot, receiver, stick] = [join(folder, 'depot'), join(folder, 'here'), join(folder, 'stick')];
    mkdirSync(stick);
    for (const site of [depot, receiver]) {
      await makeStore(site);
      changeConfig(join(site, 'larder.toml'), { 'assertions.trusted': [rootsFile(folder)] });
    }
    await work({ folder, depot, here: receiver, stick });
    console.log(`  ${machine()}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const namesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => String(at).padStart(7, '0').padStart(32, 'p'));

async function makeStore(directory: string): Promise<void> {
  mkdirSync(directory, { mode: 0o700 });
  writeFileSync(join(directory, 'larder.toml'), initialConfig(firstSettings), { mode: 0o600 });
  for (const key of ['site.key', 'master.key']) writeFileSync(join(directory, key), newWrappingKey(), { mode: 0o400 });
  await (await openStore({ directory })).close();
}

/** Gives each of these snaps a revision that is released; with the first it is registered. */
async function fill(
  directory: string,
  ids: readonly string[],
  revision: number,
  { bytes = size.bytes, isSigned = false } = {},
): Promise<void> {
  const store = await openStore({ directory });
  const at = new Date().toISOString();
  await withBlobs(store, async ({ blobs }) => {
    const taken: ({ id: string } & ReceivedBlob)[] = [];
    for (const id of ids) {
      const snap = snapOf({ name: id.slice(-8), version: '1.00', revision });
      const file = (async function* () {
        yield [snap];
        const piece = Math.min(bytes - snap.length, 1024 * 1024);
        for (let left = bytes - snap.length; left > 0; left -= piece) yield [randomBytes(Math.min(piece, left))];
      })();
      taken.push({ id, ...(await blobs.receive(file, { id: `bench-${id}`, limit: bytes })) });
    }
    const assertions = isSigned ? await Promise.all(taken.map((blob) => saidOf(blob, revision))) : [];
    await store.records.change({ at, actor: 'bench', action: 'fill', object: 'store' }, async (tx) => {
      const add = filler(tx, at);
      if ((await tx.accounts.find('ada')) === undefined) await add.account('ada');
      for (const { id: packageId, ...content } of taken) {
        const name = packageId.slice(-8);
        if (revision === 1) await add.package({ id: packageId, name, publisherId: 'ada', status: 'published' });
        const created = { packageId, revision, createdBy: 'ada', details: snapDetails, status: 'released' } as const;
        await add.revision({ ...created, ...content });
        await add.release({ packageId, channel: 'latest/stable', revision, slot: 'amd64', architecture: 'amd64' });
      }
      if (isSigned) {
        for (const assertion of [storeKey, await publisher('ada'), ...assertions.flat()])
          await tx.assertions.keep(toAssertionRecord(assertion, 'imported', { at, actor: 'bench' }));
        for (const [position, { id }] of taken.entries())
          await tx.revisions.setAssertion(id, revision, nameOf(assertions[position]![1]));
      }
    });
  });
  await store.close();
}

/** The responses of a remote store about a snap, and about one of its revisions. */
async function saidOf(
  { id, sha3_384, size: length }: { id: string } & ReceivedBlob,
  revision: number,
): Promise<[Assertion, Assertion]> {
  const snap = offered(id.slice(-8), revision, {
    id,
    publisher: 'ada',
    developer: 'ada',
    revised: {
      'snap-sha3-384': Buffer.from(sha3_384, 'hex').toString('base64url'),
      'snap-size': String(length),
    },
  });
  return [await declaration(snap), await snapRevision(snap, Buffer.alloc(0))];
}

/** Makes the second site trust the first. */
async function introduce(depot: string, receiver: string, stick: string): Promise<void> {
  const file = join(stick, 'depot.json');
  for (const [name, directory] of [['depot', depot] as const, ['site-a', receiver] as const]) {
    await larder(directory, 'site', 'init', name);
  }
  const { said: output } = await larder(depot, 'site', 'show', '--export', file);
  const { site } = output as { site: { fingerprints: string[] } };
  await larder(
    receiver,
    'site',
    'trust',
    file,
    ...site.fingerprints.flatMap((fingerprint) => ['--fingerprint', fingerprint]),
  );
}

interface Crossed {
  bytes: number;
  /** Of receiving. */
  seconds: number;
}

/** Makes a transfer of the new packages, receives it, previews it and accepts it; prints the cost of each step. */
async function cross(depot: string, receiver: string, file: string, ...options: string[]): Promise<Crossed> {
  const made = await larder(depot, 'transfer', 'make', file, '--for', 'site-a', '--since-sent', ...options);
  const { bytes, id } = made.said as { bytes: number; id: string };
  const received = await larder(receiver, 'transfer', 'receive', file);
  const looked = await larder(receiver, 'transfer', 'preview', id);
  const accepted = await larder(receiver, 'transfer', 'accept', id, '--yes');
  const all = { make: made, receive: received, preview: looked, accept: accepted };
  const figures = Object.entries(all).map(
    ([name, { seconds, memory }]) => `${name} ${seconds.toFixed(2)} s, ${memory.toFixed(0)} MiB`,
  );
  print(`${(bytes / 1e6).toFixed(1)} MB`, figures.join('; '));
  return { bytes, seconds: received.seconds };
}

/** The time to hash the same bytes, and the time of restic to restore and check them. */
function compareReceiving(file: string, { bytes, seconds }: Crossed, folder: string): void {
  for (const algorithm of ['sha256', 'sha3-384']) {
    const taken = hashed(file, algorithm);
    print(`receive beside ${algorithm}`, `${(taken / seconds).toFixed(2)} of its ${rate(bytes, taken)}`);
  }
  const env = { ...process.env, RESTIC_PASSWORD: 'bench', RESTIC_REPOSITORY: join(folder, 'restic') };
  const restic = (...args: string[]): number => {
    const began = performance.now();
    const { status, stderr } = spawnSync('restic', ['--quiet', '--no-cache', ...args], { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`cannot measure: restic ${args[0] ?? ''}: ${stderr}`);
    return (performance.now() - began) / 1000;
  };
  if (spawnSync('restic', ['version']).status !== 0) {
    print('restic', 'not measured, it is missing (Debian: apt install restic)');
    return;
  }
  restic('init');
  restic('backup', join(folder, 'depot'));
  const [check, restore] = [
    restic('check', '--read-data'),
    restic('restore', 'latest', '--target', join(folder, 'restored')),
  ];
  rmSync(join(folder, 'restored'), { recursive: true });
  print('restic', `restores and checks in ${(check + restore).toFixed(2)} s; receive takes ${seconds.toFixed(2)} s`);
}

function hashed(file: string, algorithm: string): number {
  const began = performance.now();
  const hash = createHash(algorithm);
  const buffer = Buffer.alloc(1024 * 1024);
  const descriptor = openSync(file, 'r');
  for (let read: number; (read = readSync(descriptor, buffer)) > 0;) hash.update(buffer.subarray(0, read));
  hash.digest();
  return (performance.now() - began) / 1000;
}

const rate = (bytes: number, seconds: number): string => `${(bytes / 1e6 / seconds).toFixed(0)} MB/s`;

/** One file that is larger than the memory that a command may take, in parts. */
async function large(depot: string, receiver: string, stick: string): Promise<void> {
  await fill(depot, ['largefil'.padStart(32, 'q')], 1, { bytes: size.large });
  const made = await larder(depot, 'transfer', 'make', stick, '--since-sent', '--for', 'site-a', '--part-size', '200');
  const { id, files } = made.said as { id: string; files: string[] };
  const received = await larder(receiver, 'transfer', 'receive', ...files);
  const accepted = await larder(receiver, 'transfer', 'accept', id, '--yes');
  const peak = Math.max(...[made, received, accepted].map(({ memory }) => memory));
  const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
  print(
    `${(bytes / 2 ** 30).toFixed(1)} GiB in ${String(files.length)} parts`,
    `receive at ${rate(bytes, received.seconds)}; ${peak.toFixed(0)} MiB of memory at most (under 256)`,
  );
}

/** Does a command that must not fail; how long it took, and how much memory. */
async function larder(
  directory: string,
  ...args: string[]
): Promise<{ said: unknown; seconds: number; memory: number }> {
  const began = performance.now();
  const [file, ...first] = program;
  const child = spawn(file, [...first, ...args, '--json', '--data', directory], { stdio: ['ignore', 'pipe', 'pipe'] });
  let memory = 0;
  const watch = setInterval(() => {
    memory = Math.max(memory, residentSoFar(child.pid));
  }, 20);
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await exited;
  clearInterval(watch);
  if (code !== 0) throw new Error(`cannot measure: larder ${args.join(' ')}: ${err || out}`.slice(0, 2000));
  return { said: JSON.parse(out) as unknown, seconds: (performance.now() - began) / 1000, memory };
}

/** The process may have ended. */
function residentSoFar(pid: number | undefined): number {
  try {
    const peak = peakMemory(pid);
    return Number.isNaN(peak) ? 0 : peak;
  } catch {
    return 0;
  }
}

const print = (name: string, figure: string): void => {
  console.log(`  ${name.padEnd(24)} ${figure}`);
};

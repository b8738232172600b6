// The table of faults: each row produces one for real in a store that is served, and every place is asked about it.
import { once } from 'node:events';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';

import t from 'tap';

import type { ApplianceOptions } from '#appliance/options.ts';
import type { FaultCode } from '#platform/faults.ts';
import { startConsole, type ConsoleStore } from '#test/console/world.ts';
import { noSmallDisk, smallDisk } from '#test/fixtures/small-disk.ts';
import { until } from '#test/fixtures/until.ts';
import { placesOf, showsEverywhere, showsNowhere, type Test } from './places.ts';

type Mend = () => unknown;

export interface Row {
  code: FaultCode;
  /** Why it cannot be produced here; otherwise false. */
  skip?: string | false;
  /** The size of a disk that the store has for itself. */
  onDiskOf?: string;
  configure?: (text: string) => string;
  limits?: ApplianceOptions['limits'];
  /** Whether jobs run as soon as the store is started. */
  runsJobs?: true;
  /**
   * Causes the fault; returns a function that removes it. Without that it is removed only by a restore or a newer
   * store.
   */
  produce(store: ConsoleStore, t: Test): Promise<Mend | undefined> | Mend | undefined;
  /** Whether the store finds out by itself some time later, about the fault and about its end, and not when it is asked. */
  isNoticedLater?: true;
  /** Whether a new start removes it: then the log of the new process records no end. */
  endsWithStart?: true;
  /** Part of the sentence. */
  says: RegExp;
}

/** `asksCommands`: whether `status` and `doctor` are asked again once the fault is removed. */
export function testRows(rows: readonly Row[], asksCommands = true): void {
  t.setTimeout(600_000);
  for (const row of rows) {
    const { code, skip = false } = row;
    t.test(`'${code}' shows at every place in the same words, and no longer once it is removed`, { skip }, (t) =>
      testRow(t, row, asksCommands),
    );
  }
}

async function testRow(t: Test, row: Row, asksCommands: boolean): Promise<void> {
  const { code, says, produce, isNoticedLater } = row;
  const store = await startFor(t, row);
  if (store === undefined) return;
  const places = await placesOf(store);
  const shows = async (): Promise<boolean> => /\} 1\n/.test(await lineOf(store, code));
  const mend = await produce(store, t);
  if (isNoticedLater) await until(shows);
  const fault = await showsEverywhere(t, places, code);
  t.match(fault?.says, says);
  if (mend === undefined) return;
  await mend();
  if (isNoticedLater) await until(async () => !(await shows()));
  await showsNowhere(t, places, code, fault, { isLogged: row.endsWithStart !== true, asksCommands });
}

/** The store of a row; nothing if its disk cannot be had. */
async function startFor(t: Test, { onDiskOf, configure, limits, runsJobs }: Row): Promise<ConsoleStore | undefined> {
  // The clock of the commands is the real one.
  const start = async (): Promise<ConsoleStore> => {
    const started = await startConsole(t, configure, new Date(), limits, runsJobs && 0);
    if (started.url.startsWith('https:')) started.url = await plainDoor(t, started.url);
    return started;
  };
  if (onDiskOf === undefined) return start();
  const disk = smallDisk(t, onDiskOf);
  if (disk === undefined) {
    t.comment(noSmallDisk);
    return undefined;
  }
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = disk;
  try {
    return await start();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}

/** The plain address of a store with TLS, with any certificate. */
export async function plainDoor(t: Test, url: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const door = createServer((client) => {
    const upstream = connect({ host, port: Number(port), rejectUnauthorized: false });
    for (const socket of [client, upstream]) socket.on('error', () => [client, upstream].map((peer) => peer.destroy()));
    client.pipe(upstream).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  t.teardown(() => door.close());
  return `http://127.0.0.1:${String((door.address() as AddressInfo).port)}`;
}

const lineOf = async ({ anyone }: ConsoleStore, code: FaultCode): Promise<string> =>
  new RegExp(`\\{code="${code}"\\} \\d\\n`).exec((await anyone.get('/metrics')).body as string)?.[0] ?? '';

export const configurationOf = ({ directory }: Pick<ConsoleStore, 'directory'>): string =>
  join(directory, 'larder.toml');

/** Changes a file; returns a function that undoes it. */
export function changeFile(file: string, change: (text: string) => string): () => void {
  const before = readFileSync(file, 'utf8');
  const { mode } = statSync(file);
  const write = (text: string): void => {
    // Keys are read-only files, which only root may write.
    chmodSync(file, 0o600);
    writeFileSync(file, text);
    chmodSync(file, mode);
  };
  write(change(before));
  return () => {
    write(before);
  };
}

/** Changes the configuration of a store and reloads it; returns a function that undoes it. */
export function reconfigure(store: ConsoleStore, change: (text: string) => string): () => void {
  const undo = changeFile(configurationOf(store), change);
  store.appliance.reload();
  return () => {
    undo();
    store.appliance.reload();
  };
}

// A store that is not served: each reason is produced for real, by processes as an administrator has them, and 'larder serve',
// 'larder ready', 'larder status' and 'larder doctor' say it in the same words.
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { lockDirectory } from '#data/lock.ts';
import { describeFault, type Fault, type FaultCode } from '#platform/faults.ts';
import { newStore, serve, start, withoutOthers, type Ended, type NewStore } from '#test/cli/process.ts';
import { until } from '#test/fixtures/until.ts';
import { doctorShows, faultsIn, has, type Test } from './places.ts';

t.setTimeout(300_000);

interface Row {
  code: FaultCode;
  skip?: string | false;
  /** Causes the fault; returns a function that removes it. */
  produce(store: NewStore, t: Test): Promise<() => unknown> | (() => unknown);
  /** Whether the store refuses to start because of it. */
  refusesStart: boolean;
  /** Arguments of 'larder serve'. */
  serving?: () => string[];
  /** Part of the sentence. */
  says: RegExp;
}

const run = (t: Test, { data }: NewStore, ...args: string[]): Promise<Ended> =>
  start(t, [...args, '--data', data]).ended;

/** A listener on the address of the store. */
let taken = 0;

const rows: Row[] = [
  {
    code: 'configuration-invalid',
    refusesStart: true,
    says: /larder\.toml:\d+: .*nonsense.*; .*larder\.toml:\d+: .*more/,
    produce({ data }) {
      const file = join(data, 'larder.toml');
      const before = readFileSync(file);
      appendFileSync(file, '\n[nonsense]\n[more]\n');
      return () => writeFileSync(file, before);
    },
  },
  {
    code: 'wrong-site-key',
    refusesStart: true,
    says: /this site\.key is of another store: its fingerprint is [\da-f-]+, and that of this store's [\da-f-]+$/,
    async produce({ data }, t) {
      const other = await newStore(t);
      const file = join(data, 'site.key');
      cpSync(file, `${file}.own`);
      cpSync(join(other.data, 'site.key'), file, { force: true });
      return () => cpSync(`${file}.own`, file, { force: true });
    },
  },
  {
    code: 'foreign-owner',
    skip: withoutOthers(),
    refusesStart: true,
    says: /^the directory belongs to 1234, and larder\.toml to root/,
    produce({ data }) {
      // Its folder lets others through.
      chmodSync(dirname(data), 0o755);
      for (const name of ['.', 'larder.db', 'audit.seal', 'store.lock', 'site.key', 'master.key', 'admin.macaroon'])
        chownSync(join(data, name), 1234, 1234);
      return () => chownSync(join(data, 'larder.toml'), statSync(data).uid, statSync(data).gid);
    },
  },
  {
    code: 'start-failed',
    refusesStart: true,
    says: /^The store is not served: its last start at .* failed: .*cannot listen on 127\.0\.0\.1/i,
    serving: () => ['--listen', `127.0.0.1:${String(taken)}`],
    async produce(_store, t) {
      const other = createServer().listen(0, '127.0.0.1');
      t.teardown(() => other.close());
      await once(other, 'listening');
      taken = (other.address() as AddressInfo).port;
      return () => other.close();
    },
  },
  {
    code: 'ended-unexpectedly',
    refusesStart: false,
    says: /^The store is not served: process \d+ served it and ended without a stop$/,
    async produce({ data }, t) {
      const server = await serve(t, data);
      server.child.kill('SIGKILL');
      await server.ended;
      return () => undefined;
    },
  },
  {
    code: 'not-served',
    refusesStart: false,
    says: /^The store is not being served at the moment$/,
    produce: () => () => undefined,
  },
];

for (const row of rows) {
  const { code, skip = false } = row;
  t.test(
    `'${code}' is reported in the same words everywhere while the store is not served, and not after that`,
    { skip },
    (t) => testRow(t, row),
  );
}

async function testRow(t: Test, { code, says, serving, refusesStart, produce }: Row): Promise<void> {
  const store = await newStore(t);
  const mend = await produce(store, t);
  const serves = refusesStart ? await run(t, store, 'serve', ...(serving?.() ?? [])) : undefined;

  const [status, text, doctor, ready] = await Promise.all([
    ...[run(t, store, 'status', '--json'), run(t, store, 'status'), run(t, store, 'doctor')],
    run(t, store, 'ready', '--timeout', '1s'),
  ] as const);
  const fault = faultsIn(status.out).find((entry) => entry.code === code);
  t.match(fault, { code, says }, status.out);
  if (fault === undefined) return;
  t.ok(shows(fault)(text.out), 'status', { text });
  doctorShows(t, doctor, fault);
  t.equal(ready.code, 7);
  t.ok(code === 'not-served' || shows(fault)(ready.out), 'ready', { ready: ready.out });
  if (serves !== undefined) {
    t.equal(serves.code, 1);
    refusalShows(t, serves.err, fault, faultsIn(status.out));
    const ended = await run(t, store, 'ready', '--process', String(goneProcess()));
    t.ok(shows(fault)(ended.err), 'and who waits for a process that has ended', { err: ended.err });
  }

  await mend();
  const server = await serve(t, store.data);
  const after = await Promise.all(['status', 'doctor', 'ready'].map((command) => run(t, store, command)));
  for (const { out } of after) t.notOk(has(fault.says)(out), 'no longer once it is served', { out });
  server.child.kill('SIGTERM');
  await server.ended;
}

const shows = ({ says, remedy }: Fault): ((text: string) => boolean) => has(says, remedy);

/** The last line of the log of a start that was refused: of a fault, or the reason that the fault names. */
function refusalShows(t: Test, err: string, fault: Fault, all: readonly Fault[]): void {
  const line = err.trim().replace(/^larder: /, '');
  const failed = all.find(({ code }) => code === 'start-failed');
  if (fault.code === 'start-failed') t.ok(has(line.replace(/\.$/, ''))(fault.says), 'its log', { line, fault });
  else t.ok(shows(fault)(line), 'its log', { line });
  t.ok(has(fault.code === 'start-failed' ? line : fault.says)(failed?.says ?? ''), 'and what is kept of the start');
}

/** The number of a process that has ended. */
const goneProcess = (): number => spawnSync(process.execPath, ['--version']).pid;

t.test("while a failed start is tried again, 'larder ready' and 'larder status' still say why it failed", async (t) => {
  const store = await newStore(t);
  const row = rows.find(({ code }) => code === 'start-failed')!;
  await row.produce(store, t);
  await run(t, store, 'serve', ...row.serving!());
  const starting = lockDirectory(store.data);
  t.teardown(() => starting.close());
  for (const command of ['ready --timeout 1s', 'status']) {
    const { out } = await run(t, store, ...command.split(' '));
    t.ok(has('The store is not served: its last start', 'cannot listen on 127.0.0.1')(out), command, { out });
  }
});

t.test("'write-failed' ends the process, and all say why the store is not served", async (t) => {
  const store = await newStore(t);
  const { macaroon } = (await store.json('token issue --account larder-admin')) as { macaroon: string };
  const server = await serve(t, store.data);
  const file = join(store.data, 'larder.db');
  const db = new SQLite(file, { readonly: true });
  const root = db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'packages'").pluck().get() as number;
  db.close();
  const disk = openSync(file, 'r+');
  writeSync(disk, Buffer.alloc(4096, 0xa5), 0, 4096, (root - 1) * 4096);
  closeSync(disk);
  const headers = { authorization: `Macaroon ${macaroon}`, 'content-type': 'application/json' };
  await fetch(`${server.url}/v1/snap`, { method: 'POST', headers, body: '{"name":"hello"}' }).catch(() => undefined);
  const { code: exitCode, err } = await server.ended;
  t.equal(exitCode, 1);
  const code: FaultCode = 'write-failed';
  const { says } = describeFault(code, {});
  t.ok(has(says)(err), 'its log');
  for (const command of ['status', 'doctor', 'ready --timeout 1s']) {
    const { out } = await run(t, store, ...command.split(' '));
    t.ok(has('The store is not served: its last start', says)(out), command, { out });
  }
});

t.test("'not-answering' is reported in the same words everywhere, and not after the process continues", async (t) => {
  const store = await newStore(t);
  const server = await serve(t, store.data);
  server.child.kill('SIGSTOP');
  t.teardown(() => server.child.kill('SIGCONT'));
  const code: FaultCode = 'not-answering';
  const { out } = await run(t, store, 'status', '--json');
  const fault = faultsIn(out).find((entry) => entry.code === code)!;
  t.match(fault.says, new RegExp(`^Process ${String(server.child.pid)} holds the store and does not answer: `));
  t.ok(shows(fault)((await run(t, store, 'status')).out), 'status');
  doctorShows(t, await run(t, store, 'doctor'), fault);
  server.child.kill('SIGCONT');
  await until(async () => (await store.larder('doctor')).code === 0);
  for (const command of ['status', 'doctor'])
    t.notOk(has(fault.says)((await run(t, store, command)).out), `no longer in ${command}`);
  server.child.kill('SIGTERM');
  await server.ended;
});

// A stopped store goes to the other engine and back: all of it, or it stays where it was.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import SQLite from 'better-sqlite3';
import t, { type Test } from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { rowsOfFile, rowsOfServer } from '#test/fixtures/records/all-rows.ts';
import { examplesIn } from '#test/fixtures/guides.ts';
import { runKilledAt, someOf, stepsOf } from '#test/fixtures/processes/killed-command.ts';
import { startPostgres, type PostgresServer } from '#test/fixtures/servers/postgres.ts';
import { placeIn, sharedSwift } from '#test/fixtures/servers/swift.ts';
import { commandsOn, folder, serve, type NewStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { endedBy } from './ended-by.ts';
import { saved } from './saved.ts';

t.setTimeout(1_800_000);
const long = process.env['LARDER_LONG'] === '1';

const root = t;
let server: PostgresServer;
/** A stopped store with a published snap. */
let original: string;

t.before(async () => {
  server = await startPostgres();
  t.teardown(server.end);
  const { folder: place, keys, run } = await saved(t);
  const file = join(place, 'full.tar');
  original = join(mkdtempSync(join(tmpdir(), 'larder-move-')), 'data');
  t.teardown(() => rmSync(join(original, '..'), { recursive: true }));
  const lines = [await run(`backup ${file}`), await larder(`restore ${file} --data ${original} --keys ${keys}`)];
  for (const { code, err } of lines) if (code !== 0) throw new Error(err);
});

/** A copy of the store. */
function stopped(t: Test): NewStore {
  const data = join(folder(t), 'data');
  cpSync(original, data, { recursive: true });
  return commandsOn(data);
}

let configurations = 0;

/** A configuration of the store that names this address, or a file. */
function configuration(data: string, address: string | undefined): string {
  const file = join(data, '..', `${String(configurations++)}.toml`);
  cpSync(join(data, 'larder.toml'), file);
  changeConfig(file, { 'records.postgres': address });
  return file;
}

/** Everything that a move keeps unchanged. The audit log gains an entry. */
const lasting = (rows: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(rows).filter(([name]) => !/^(?:audit|noun_versions|appliance|passing_(?:leases|shares))/.test(name)),
  );

const asides = (data: string): string[] => readdirSync(data).filter((name) => /\.(?:moved|left)-/.test(name));

t.test('the records move to a server and back, with an entry in the log, and a copy of the old ones', async (t) => {
  const store = stopped(t);
  const { data } = store;
  const db = new SQLite(join(data, 'larder.db'));
  db.exec(
    `INSERT INTO passing_failures (kind, key, count, ends_at) VALUES ('login', 'ada', 3, '2100-01-01T00:00:00.000Z')`,
  );
  db.exec(`INSERT INTO passing_leases (name, holder, ends_at) VALUES ('scrub', '1.1 x', '2100-01-01T00:00:00.000Z')`);
  db.close();
  const before = lasting(await rowsOfFile(join(data, 'larder.db')));
  const address = await server.newSchema();
  const file = configuration(data, address);
  const moved = await store.larder(`move --to ${file}`);
  t.match(moved, {
    code: 0,
    out: /^The records are in the database postgres at \S+: \d+ rows, each read back as it was written, and the audit log is intact\.$/m,
  });
  t.equal(readFileSync(join(data, 'larder.toml'), 'utf8'), readFileSync(file, 'utf8'));
  t.strictSame(lasting(await rowsOfServer(address)), before, 'every row is the same');
  const { passing_failures: failures, passing_leases: leases } = await rowsOfServer(address);
  t.strictSame([failures!.length, leases], [1, []], 'who guessed is known, and what was a process’s own is not');
  t.notOk(existsSync(join(data, 'larder.db')));
  t.match(asides(data), [/^larder\.db\.moved-\d{8}T\d{6}Z$/]);
  t.strictSame(lasting(await rowsOfFile(join(data, asides(data)[0]!))), before, 'put aside whole');
  t.notOk(existsSync(join(data, '.moving')));
  t.match(await store.json('audit verify'), { good: true });
  const entry = { action: 'move_store', actor: /^cli:/, object: 'store', outcome: 'done' };
  t.match((await store.json('audit list --action move')).entries, [
    { ...entry, details: { from: 'larder.db', to: /^the database postgres at /, rows: Number } },
  ]);
  t.match(await store.larder(`move --to ${file}`), { code: 0, out: /already; nothing is to be moved\.\n$/ });
  const served = await serve(t, data);
  t.equal((await fetch(`${served.url}/readyz`)).status, 200);
  served.child.kill('SIGTERM');
  await served.ended;
  await store.larder('account create --email cid@example.org --username cid --display-name Cid');

  const rows = lasting(await rowsOfServer(address));
  const back = await store.json(`move --to ${configuration(data, undefined)}`);
  t.match(back, {
    to: 'larder.db',
    'kept-aside': /^the schema larder_moved_\d{8}t\d{6}z of the database postgres at /,
  });
  t.strictSame(lasting(await rowsOfFile(join(data, 'larder.db'))), rows);
  t.match(await store.json('verify'), { good: true });
  t.match(await store.json('account list'), { accounts: [{}, {}, {}, { username: 'cid' }] });
  t.equal((await store.json('audit list --action move')).entries.length, 2);
  const [, schema] = /the schema (\w+)/.exec(back['kept-aside'] as string)!;
  const oldAddress = server.address(`&options=${encodeURIComponent(`-c search_path=${schema!}`)}`);
  t.strictSame(lasting(await rowsOfServer(oldAddress)), rows, 'the old records are whole under another name');
  changeConfig(join(data, 'larder.toml'), { 'records.postgres': oldAddress });
  t.match(await store.json('account list'), { accounts: [{}, {}, {}, { username: 'cid' }] }, 'and can be opened there');
  changeConfig(join(data, 'larder.toml'), { 'records.postgres': address });
  t.match(await store.larder('account list'), { code: 1, err: /contains no store/ }, 'and nowhere else');
});

t.test('an impossible move is refused in a sentence, and nothing is changed', async (t) => {
  const store = stopped(t);
  const { data } = store;
  const address = await server.newSchema();
  const file = configuration(data, address);
  const before = readFileSync(join(data, 'larder.toml'), 'utf8');
  const refused = async (code: number, pattern: RegExp, line = `move --to ${file}`): Promise<void> => {
    const ended = await store.larder(line);
    t.match(ended, { code, err: pattern });
    t.match(ended.err, /^(?:larder: \S.* does not respond yet; waiting for it\n)?larder: [^\n]+\n$/, 'one sentence');
    t.equal(readFileSync(join(data, 'larder.toml'), 'utf8'), before);
    t.notOk(existsSync(join(data, '.moving')));
  };
  const served = await serve(t, data);
  await refused(3, /is in use by another larder\n$/);
  served.child.kill('SIGTERM');
  await served.ended;
  await refused(1, /^larder: cannot read \S+\.none: there is no/, `move --to ${file}.none`);
  const other = join(data, '..', 'other.toml');
  cpSync(file, other);
  changeConfig(other, { 'log.level': 'debug' });
  await refused(
    1,
    /says something else in \[log\] than larder\.toml; a move changes \[records\] and \[blobs\] alone/,
    `move --to ${other}`,
  );

  const another = stopped(t);
  const taken = await server.newSchema();
  t.match(await another.larder(`move --to ${configuration(another.data, taken)}`), { code: 0 });
  await refused(
    1,
    /there is a store in the database postgres at \S+ already; name/,
    `move --to ${configuration(data, taken)}`,
  );
  const strange = await server.newSchema();
  await server.ask(`CREATE TABLE ${/search_path%3D(\w+)/.exec(strange)![1]!}.recipes (name TEXT)`);
  await refused(1, /tables that are not larder's, such as recipes/, `move --to ${configuration(data, strange)}`);
  const nowhere = 'postgres://larder@/x?host=/nowhere';
  await refused(1, /waiting for it\n.*no server listens there/, `move --to ${configuration(data, nowhere)}`);
  await server.ask('CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0 LOCALE_PROVIDER libc LOCALE "C"');
  const latin = server.address().replace('/postgres?', '/latin?');
  await refused(1, /its encoding is LATIN1/, `move --to ${configuration(data, latin)}`);

  const db = new SQLite(join(data, 'larder.db'));
  db.exec(`UPDATE packages SET title = 'changed by somebody else'`);
  await refused(1, /the records are not whole: row \S+ of packages .*is changed; 'larder verify' tells more/);
  db.exec(`INSERT INTO migrations VALUES ('9999-newer')`);
  db.close();
  await refused(1, /written by a newer release/);
});

/** Compares a store with an earlier description of it, in any place. */
async function isWhole(t: Test, { json }: NewStore, label: string): Promise<void> {
  t.match(await json('audit verify'), { good: true }, `${label}: the log is whole`);
  t.match(await json('account list'), { accounts: [{}, {}, {}] }, `${label}: nobody is lost`);
}

for (const direction of ['to a server', 'back into a file', 'of its files to a bucket'] as const) {
  t.test(
    `killed at any of its steps on the way ${direction}, a store is whole, and the line can be typed again`,
    async (t) => {
      const steps = join(folder(t), 'steps');
      /** A store that is to be moved, and its line. */
      const prepared = async (): Promise<{ store: NewStore; line: string[]; to: string | undefined }> => {
        const store = stopped(t);
        if (direction === 'of its files to a bucket') {
          const file = configuration(store.data, undefined);
          changeConfig(file, placeIn(await sharedSwift(root), folder(t)));
          return { store, line: ['move', '--to', file, '--data', store.data], to: undefined };
        }
        const address = await server.newSchema();
        const file = configuration(store.data, address);
        const move = (to: string): string[] => ['move', '--to', to, '--data', store.data];
        if (direction === 'to a server') return { store, line: move(file), to: address };
        const outcome = await larder(move(file).join(' '));
        t.equal(outcome.code, 0, outcome.err);
        return { store, line: move(configuration(store.data, undefined)), to: undefined };
      };
      const all = await stepsOf(t, (await prepared()).line, steps);
      let switched = 0;
      // Of two the first is early, and something is still where it was.
      const some = someOf(all, long ? 200 : 2);
      for (const at of some) {
        const { store, line, to } = await prepared();
        const { code } = await runKilledAt(t, at, line);
        t.ok(code === null || code === 0, `step ${String(at)} of ${String(all)}`);
        const text = readFileSync(join(store.data, 'larder.toml'), 'utf8');
        const isThere = text === readFileSync(line[2]!, 'utf8');
        switched += Number(isThere);
        await isWhole(t, store, `step ${String(at)}, ${isThere ? 'there' : 'here'}`);
        // A client changes the store before the command is run again, and the change survives.
        await store.larder('account create --email cid@example.org --username cid --display-name Cid');
        const again = await larder(line.join(' '));
        t.equal(again.code, 0, `step ${String(at)}: ${again.err}`);
        await isWhole(t, store, `step ${String(at)}, again`);
        t.match(await store.json('account list'), { accounts: [{}, {}, {}, { username: 'cid' }] });
        t.equal(existsSync(join(store.data, 'larder.db')), to === undefined);
        t.notOk(existsSync(join(store.data, '.moving')), 'and nothing half done is left');
      }
      t.ok(switched > 0 && switched < some.length, `${String(switched)} of ${String(some.length)} were there already`);
    },
  );
}

t.test('a move that is ended by a signal undoes its steps', async (t) => {
  const { data, json } = stopped(t);
  const address = await server.newSchema();
  const line = ['move', '--to', configuration(data, address), '--data', data];
  t.match(await endedBy('SIGTERM', 'records', line), { code: 143 });
  t.notOk(existsSync(join(data, '.moving')));
  t.match(await json('account list'), { accounts: [{}, {}, {}] });
  t.match(await larder(line.join(' ')), { code: 0 });
});

t.test('the guide’s lines go to a server and back', async (t) => {
  const { data } = stopped(t);
  const bin = folder(t);
  const program = (name: string, text: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const main = join(import.meta.dirname, '../../src/main.ts');
  program('larder', `exec env -u NODE_OPTIONS '${process.execPath}' '${main}' "$@"`);
  // The service is not installed here, and the store is stopped.
  program('systemctl', 'true');
  await server.ask(`CREATE ROLE ada LOGIN`);
  await server.ask('CREATE DATABASE guide OWNER ada');
  writeFileSync(join(bin, 'password'), 'none is asked for\n');
  const blocks = examplesIn('administrator', 'Move to PostgreSQL, and back', 2).map((lines) =>
    lines
      .join('\n')
      .replaceAll('/var/lib/larder', data)
      .replaceAll('/root', bin)
      .replaceAll('/etc/larder/postgres-password', join(bin, 'password'))
      .replaceAll(
        'postgres://larder@db.internal:5432/larder',
        server.address().replace('larder@/postgres', 'ada@/guide'),
      ),
  );
  t.equal(blocks.length, 2);
  for (const [at, block] of blocks.entries()) {
    const env = { PATH: `${bin}:${process.env['PATH']!}`, LARDER_DATA: data };
    const { stdout } = await promisify(execFile)('sh', ['-ec', block], { env });
    t.match(stdout, /each read back as it was written/);
    t.equal(existsSync(join(data, 'larder.db')), at === 1);
    t.match(await larder(`account list --data ${data}`), { code: 0 });
  }
});

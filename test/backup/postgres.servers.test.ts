// Backups of stores with records on a PostgreSQL server, and restores onto one. Both engines write the same archive,
// and both restore it.
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import pg from 'pg';
import t, { type Test } from 'tap';

import { rowsOfFile, rowsOfServer } from '#test/fixtures/records/all-rows.ts';
import { runKilledAt, someOf, stepsOf } from '#test/fixtures/processes/killed-command.ts';
import { startPostgres, type PostgresServer } from '#test/fixtures/servers/postgres.ts';
import { until } from '#test/fixtures/until.ts';
import { commandsOn, folder, serve, type NewStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { endedBy } from './ended-by.ts';
import { saved } from './saved.ts';

t.setTimeout(1_800_000);
const long = process.env['LARDER_LONG'] === '1';
const password = 'correct horse battery';

let server: PostgresServer;
/** The backup of a store with a published snap and its records in a file; and the copies of its keys. */
let made: { file: string; keys: string; passwordFile: string; sha3_384: string };

t.before(async () => {
  server = await startPostgres({ access: ['local all ada scram-sha-256', 'local all all trust'] });
  t.teardown(server.end);
  await server.ask(`CREATE ROLE ada LOGIN SUPERUSER PASSWORD '${password}'`);
  const { folder: place, keys, run, sha3_384 } = await saved(t);
  const file = join(place, 'full.tar');
  const { code, err } = await run(`backup ${file}`);
  if (code !== 0) throw new Error(err);
  const passwordFile = join(place, 'password');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  made = { file, keys, passwordFile, sha3_384 };
});

let databases = 0;

/** An empty database with all privileges for ada. */
async function emptyDatabase(): Promise<{ name: string; address: string }> {
  const name = `empty_${String(databases++)}`;
  await server.ask(`CREATE DATABASE ${name} OWNER ada`);
  return { name, address: server.address().replace('larder@/postgres', `ada@/${name}`) };
}

const ofLarder = (address: string): string => address.replace('ada@', 'larder@');

/** Restores the backup onto the server. */
async function onServer(t: Test, file = made.file): Promise<NewStore & { address: string; out: string }> {
  const { address } = await emptyDatabase();
  const data = join(folder(t), 'data');
  const onto = `--postgres ${address} --postgres-password-file ${made.passwordFile}`;
  const { code, out, err } = await larder(`restore ${file} --data ${data} --keys ${made.keys} ${onto}`);
  t.equal(code, 0, err);
  return { ...commandsOn(data), address, out };
}

/** The values that stay the same through changes of the whole store: no log and no counts. */
const lasting = (rows: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(rows).filter(([name]) => !/^(?:audit|appliance|noun_versions|passing_|notes|exports)/.test(name)),
  );

t.test(
  'a backup of a file is restored onto a server, backed up there while it serves, and restored as a file',
  async (t) => {
    const serverStore = await onServer(t);
    t.match(serverStore.out, /^Its records are in the database empty_0 at /m);
    t.notOk(existsSync(join(serverStore.data, 'larder.db')), 'no records are left in a file');
    t.notOk(existsSync(join(serverStore.data, '.restoring')));
    const configuration = readFileSync(join(serverStore.data, 'larder.toml'), 'utf8');
    t.ok(configuration.includes(`\npostgres = "${serverStore.address}"\npassword_file`.split('\n')[1]!));
    t.match(await serverStore.json('audit verify'), { good: true });

    const { url } = await serve(t, serverStore.data);
    const [file, next] = [join(folder(t), 'server.tar'), join(folder(t), 'next.tar')];
    t.match(await serverStore.json(`backup ${file}`), { blobs: 2, lacking: [] }, 'while it serves');
    await serverStore.larder('account create --email cid@example.org --username cid --display-name Cid');
    // Waits for the work of the store soon after its start: it removes unclaimed uploads, and makes its catalog.
    await until(async () => {
      const rows = await rowsOfServer(ofLarder(serverStore.address));
      return [rows['uploads'], rows['catalog_stale']].map((some) => some?.length).join() === '1,0';
    });
    t.match(await serverStore.json(`backup ${next} --since ${file}`), { 'blobs-in-this-file': 0, lacking: [] });
    t.match(await serverStore.json(`backup --check ${next} --base ${file}`), { good: true, 'database-problems': [] });
    t.equal((await fetch(`${url}/readyz`)).status, 200);

    const back = join(folder(t), 'back');
    const restored = await larder(`restore ${next} --base ${file} --data ${back} --keys ${made.keys}`);
    t.match(restored, {
      code: 0,
      out: /^Its records are in larder\.db there; they were in the database empty_0 at \S+ when the backup was made\.$/m,
    });
    t.notMatch(
      readFileSync(join(back, 'larder.toml'), 'utf8'),
      /^postgres|^password_file/m,
      'its configuration names no server',
    );
    t.match(await commandsOn(back).json('verify'), { good: true });
    t.match(await commandsOn(back).json('account list'), { accounts: [{}, {}, {}, { username: 'cid' }] });
    const rows = lasting(await rowsOfFile(join(back, 'larder.db')));
    t.strictSame(rows, lasting(await rowsOfServer(ofLarder(serverStore.address))), 'every row is the same');
    t.equal((rows['revisions'] as unknown[]).length, 1, 'with the snap');
  },
);

t.test('missing blobs of a store on a server are restored from a backup', async (t) => {
  const serverStore = await onServer(t);
  const { sha3_384 } = made;
  const blob = join(serverStore.data, 'blobs/sha3', sha3_384.slice(0, 2), sha3_384);
  rmSync(blob);
  t.match(await serverStore.json(`restore ${made.file} --missing`), { back: [sha3_384], lacking: [] });
  t.ok(existsSync(blob));
});

t.test('a restore onto a server needs an empty place', async (t) => {
  const serverStore = await onServer(t);
  const data = join(folder(t), 'data');
  const onto = (address: string): Promise<{ code: number; err: string }> =>
    larder(
      `restore ${made.file} --data ${data} --keys ${made.keys} --postgres ${address} --postgres-password-file ${made.passwordFile}`,
    );
  t.match(await onto(serverStore.address), {
    code: 1,
    err: /^larder: there is a store in the database empty_\d at \S+ already; name a database, or a schema, that is empty\n$/,
  });
  const { name, address } = await emptyDatabase();
  const client = new pg.Client({ host: server.folder, user: 'larder', database: name });
  await client.connect();
  await client.query('CREATE TABLE recipes (name TEXT)');
  await client.end();
  t.match(await onto(address), {
    code: 1,
    err: /^larder: the database empty_\d at \S+ is not empty: it contains tables that are not larder's, such as recipes; name [^\n]*\n$/,
  });
  t.match(await onto('postgres://ada:secret@db.internal/x'), {
    code: 2,
    err: /it contains a password; write the password into its own file/,
  });
  t.match(await onto('mysql://ada@db.internal/x'), { code: 2, err: /write it as postgres:/ });
  writeFileSync(`${made.passwordFile}.wrong`, 'guessed');
  t.match(
    await larder(
      `restore ${made.file} --data ${data} --keys ${made.keys} --postgres ${address} --postgres-password-file ${made.passwordFile}.wrong`,
    ),
    { code: 1, err: /refuses the password of the user ada\n$/ },
  );
  t.match(await larder(`restore ${made.file} --data ${data} --keys ${made.keys} --postgres-password-file x`), {
    code: 2,
    err: /--postgres-password-file needs --postgres/,
  });
  t.notOk(existsSync(data), 'and nothing is left of any of them');
});

t.test('killed at any of its steps, a restore onto a server leaves no store, and can be repeated', async (t) => {
  const [data, steps] = [join(folder(t), 'data'), join(folder(t), 'steps')];
  const { address, name } = await emptyDatabase();
  const onto = ['--postgres', address, '--postgres-password-file', made.passwordFile];
  const line = ['restore', made.file, '--data', data, '--keys', made.keys, ...onto];
  const whole = async (): Promise<void> => {
    const store = commandsOn(data);
    t.match(await store.json('audit verify'), { good: true });
    t.match(await store.json('account list'), { accounts: [{}, {}, {}] });
    const wrong = await larder(`restore ${made.file} --data ${data}-2 --keys ${made.keys} ${onto.join(' ')}`);
    t.match(wrong, { code: 1, err: /there is a store in the database \S+ at \S+ already/ }, 'which nobody takes away');
    rmSync(data, { recursive: true });
    await server.ask(`DROP DATABASE ${name}`);
    await server.ask(`CREATE DATABASE ${name} OWNER ada`);
  };
  const all = await stepsOf(t, line, steps);
  t.ok(all > 40, `${String(all)} steps`);
  await whole();
  let unfinished = 0;
  // After the last steps there may be a store: one step of the first half shows the state without it.
  for (const at of long ? someOf(all, 200) : [randomInt(1, all >> 1), all]) {
    const { code } = await runKilledAt(t, at, line);
    const isStore = existsSync(join(data, 'larder.toml'));
    if (!isStore) {
      t.notOk(code === 0, `step ${String(at)}: no store`);
      t.match(await larder(`account list --data ${data}`), { code: 1 }, 'and none is taken for one');
      unfinished++;
      const again = await larder(line.join(' '));
      t.equal(again.code, 0, `step ${String(at)}: ${again.err}`);
    }
    await whole();
  }
  t.ok(unfinished > 0);
});

t.test('of a restore onto a server that a signal ends nothing is left there either', async (t) => {
  const { address, name } = await emptyDatabase();
  const data = join(folder(t), 'data');
  const onto = ['--postgres', address, '--postgres-password-file', made.passwordFile];
  const line = ['restore', made.file, '--data', data, '--keys', made.keys, ...onto];
  t.match(await endedBy('SIGTERM', 'records', line), { code: 143 });
  t.notOk(existsSync(data));
  const client = new pg.Client({ host: server.folder, user: 'larder', database: name });
  await client.connect();
  t.match(await client.query('SELECT count(*)::int FROM pg_tables WHERE schemaname = current_schema()'), {
    rows: [{ count: 0 }],
  });
  await client.end();
  t.match(await larder(line.join(' ')), { code: 0 });
});

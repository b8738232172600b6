// Upgrades: data of an older release is copied before it is changed, and there is a way back.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { listUpgradeCopies, copyBeforeUpgrade, rollBackDatabase, upgradesFolder } from '#backup/upgrade-copies.ts';
import { checkDatabase, migrationsIn } from '#engine/sqlite/check.ts';
import { sql } from '#engine/database.ts';
import { migrate } from '#engine/migrate.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { migrations } from '#data/upgrade.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { olderStore as keptStore } from '#test/fixtures/records/older-stores.ts';
import { lockDirectory } from '#data/lock.ts';
import { watched } from '#test/files/ordered-disk.ts';
import { newStore, serve, start, type NewStore } from '../cli/process.ts';

const long = process.env['LARDER_LONG'] === '1';
const all = migrations();
const newest = all.at(-1)!.name;

/** A store as the release before the newest migration has left it, with an account of ada's. */
async function olderStore(t: Parameters<typeof newStore>[0]): Promise<NewStore> {
  const store = await newStore(t);
  await makeOlder(store.data);
  return store;
}

async function makeOlder(data: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) rmSync(join(data, `larder.db${end}`), { force: true });
  const db = openSqlite(join(data, 'larder.db'));
  await migrate(db, all.slice(0, -1));
  db.keepRowDigests();
  const at = '2026-03-01T12:00:00.000Z';
  await db.transaction((tx) =>
    tx.run(sql`INSERT INTO accounts (id, username, display_name, email, validation, created_at)
      VALUES (${'ada-id'}, ${'ada'}, ${'Ada'}, ${'ada@example.org'}, ${'unproven'}, ${at})`),
  );
  await db.close();
}

const accountsIn = (file: string): unknown[] => {
  const db = new SQLite(file, { readonly: true });
  try {
    return db.prepare('SELECT username FROM accounts ORDER BY username').pluck().all();
  } finally {
    db.close();
  }
};

/** The data that a release with one more migration would have left. */
async function visitOfNewer(data: string): Promise<string> {
  const copy = await copyBeforeUpgrade({ directory: data, migration: '9999-newer' });
  const db = openSqlite(join(data, 'larder.db'));
  await migrate(db, [...all, { name: '9999-newer', text: 'CREATE TABLE newer (id TEXT PRIMARY KEY);' }]);
  await db.close();
  return copy;
}

largeTest('earlier damage is reported at an upgrade, because the upgrade renews the digests', async (t) => {
  const { data } = await olderStore(t);
  const db = new SQLite(join(data, 'larder.db'));
  db.exec(`UPDATE accounts SET display_name = 'Eda' WHERE username = 'ada'`);
  db.close();
  const server = await serve(t, data);
  t.match(server.err(), /"level":"error".*"problems":1,.*damaged before it was upgraded/);
  t.match(checkDatabase(join(data, upgradesFolder, `${newest}.db`)), [/^row 1 of accounts is changed$/]);
  t.same(checkDatabase(join(data, 'larder.db')), []);
});

t.test('a store of an older release is copied, then upgraded, with a report', async (t) => {
  const { data, larder } = await olderStore(t);
  const configuration = readFileSync(join(data, 'larder.toml'), 'utf8');
  const server = await serve(t, data);
  const copy = join(data, upgradesFolder, `${newest}.db`);
  t.match(server.err(), `"copy":"${copy}"`);
  t.match(server.err(), /upgraded data of an older release/);

  t.same(listUpgradeCopies(data), [copy]);
  t.equal(statSync(copy).mode & 0o777, 0o600);
  t.equal(statSync(join(data, upgradesFolder)).mode & 0o777, 0o700);
  t.same(readdirSync(join(data, upgradesFolder)).sort(), [`${newest}.db`, `${newest}.toml`]);
  t.equal(readFileSync(copy.replace('.db', '.toml'), 'utf8'), configuration);
  t.same(
    migrationsIn(copy),
    all.slice(0, -1).map(({ name }) => name),
    'the copy has the older schema',
  );
  t.same(accountsIn(copy), ['ada'], 'and its rows');
  t.same(checkDatabase(copy), []);

  t.same(
    migrationsIn(join(data, 'larder.db')),
    all.map(({ name }) => name),
  );
  t.match((await larder('status')).out, new RegExp(`Before upgrade +${copy}\\n`));
  t.match((await larder('audit list')).out, /larder +upgrade_store +store/);
  t.match((await larder('account list')).out, /ada-id/);
  server.child.kill('SIGTERM');
  await server.ended;
  t.notMatch((await serve(t, data)).err(), /upgraded/, 'once');
});

t.test('a command upgrades too, but not under a server of the older release', async (t) => {
  const { data, larder } = await olderStore(t);
  const lock = lockDirectory(data);
  t.match(await larder('account list'), {
    code: 3,
    err: /is served by an older release; restart the server, so that it brings the data up to date/,
  });
  t.same(listUpgradeCopies(data), []);
  t.equal(migrationsIn(join(data, 'larder.db')).length, all.length - 1, 'nothing was changed');
  lock.close();
  t.match(await larder('account list'), { code: 0, out: /ada-id/, err: /^larder: upgraded .* is in .*\.db\n$/ });
  t.match(await larder('account list'), { code: 0, err: '' });
});

t.test('a command waits for the server that is just upgrading the data', async (t) => {
  const { data, larder } = await olderStore(t);
  const lock = lockDirectory(data);
  const answer = larder('account list');
  await sleep(1500);
  const db = openSqlite(join(data, 'larder.db'));
  await migrate(db, all);
  db.keepRowDigests();
  await db.close();
  t.match(await answer, { code: 0, out: /ada-id/, err: '' });
  lock.close();
});

t.test('without a copy nothing is changed', async (t) => {
  const { data, larder } = await olderStore(t);
  writeFileSync(join(data, upgradesFolder), 'in the way');
  t.match(await larder('account list'), { code: 1 });
  t.equal(migrationsIn(join(data, 'larder.db')).length, all.length - 1);
  rmSync(join(data, upgradesFolder));
  mkdirSync(join(data, upgradesFolder, `${newest}.db`), { recursive: true });
  t.match(await larder('account list'), { code: 1, err: /cannot keep a copy of the database.*nothing was changed/ });
  t.equal(migrationsIn(join(data, 'larder.db')).length, all.length - 1);
  t.same(readdirSync(join(data, upgradesFolder)), [`${newest}.db`, `${newest}.toml`]);
});

t.test('a copy is on the disk before it has its name, and its name before anything is changed', async (t) => {
  const { data } = await newStore(t);
  const { disk, did } = watched();
  const copy = await copyBeforeUpgrade({ directory: data, migration: '9999-one', disk });
  t.same(did, [
    `sync ${basename(data)}`,
    'sync 9999-one.db.partial',
    'sync 9999-one.toml.partial',
    'rename 9999-one.toml.partial to 9999-one.toml',
    'rename 9999-one.db.partial to 9999-one.db',
    'sync before-upgrade',
  ]);
  did.length = 0;
  const finish = (): Promise<void> => Promise.resolve();
  await rollBackDatabase(data, copy, join(data, upgradesFolder, 'left.db'), { disk, finish });
  t.same(did, [
    'sync larder.db.back',
    'sync larder.db.back',
    'link larder.db to left.db',
    'sync before-upgrade',
    'rename larder.db.back to larder.db',
    `sync ${basename(data)}`,
  ]);
});

t.test('the copies of the three latest upgrades are kept', async (t) => {
  const { data } = await newStore(t);
  for (const migration of ['0031-one', '0032-two', '0033-three', '0034-four', '0034-four']) {
    await copyBeforeUpgrade({ directory: data, migration });
  }
  t.same(
    listUpgradeCopies(data).map((file) => file.slice(-12)),
    ['0034-four.db', '033-three.db', '/0032-two.db'],
  );
  t.equal(readdirSync(join(data, upgradesFolder)).length, 6);
});

largeTest('an older release refuses newer data, and rolls back to the data that it knows', async (t) => {
  const { data, larder, json } = await newStore(t);
  await json('account create --email ada@example.org --username ada --display-name Ada --id ada-id');
  const copy = await visitOfNewer(data);
  for (const line of ['status', 'account list', 'serve']) {
    t.match(await larder(line), { code: 1, err: /cannot open data written by a newer release of larder.*9999-newer/ });
  }
  t.same(migrationsIn(join(data, 'larder.db')).at(-1), '9999-newer', 'and leaves it as it is');

  const lock = lockDirectory(data);
  t.match(await larder('go-back'), { code: 3 });
  lock.close();
  const result = await json('go-back');
  t.match(result, { 'put-back': copy, 'kept-aside': /left-\d{8}T\d{6}Z\.db$/ });
  t.same(accountsIn(join(data, 'larder.db')), ['admin', 'ada'].sort());
  t.ok(migrationsIn(result['kept-aside'] as string).includes('9999-newer'), 'what was there is kept');
  t.match(await larder('account list'), { code: 0, out: /ada-id/ });
  t.match((await larder('audit list')).out, /roll_back_upgrade/);
  t.match(await json('audit verify'), { good: true, 'begun-anew': [{ by: 'roll_back_upgrade' }] });
  t.match(await larder('audit verify'), { code: 0 });
  t.same(checkDatabase(join(data, 'larder.db')), []);
  await serve(t, data);
});

largeTest('only the release that wrote a copy puts it back, and only a whole one', async (t) => {
  const { data, larder } = await olderStore(t);
  t.match(await larder('go-back'), { code: 1, err: /there is no copy from before an upgrade/ });
  t.match(await larder('go-back /none.db'), { code: 1, err: /there is no \/none\.db/ });
  await larder('account list');
  t.match(await larder('go-back'), { code: 1, err: /would upgrade .* again: install the release that wrote it/ });
  const single = join(data, upgradesFolder, '0095-since-first-release.db');
  new SQLite(single).exec(`PRAGMA foreign_keys = OFF; ${keptStore('a1407c7')}`).close();
  t.match(await larder(`go-back ${single}`), { code: 1, err: /would upgrade .* again: install the release/ });
  rmSync(single);
  const newer = await visitOfNewer(data);
  await copyBeforeUpgrade({ directory: data, migration: '9999-other' });
  t.match(await larder('go-back'), { code: 1, err: /was written by a newer release/ });
  const bytes = readFileSync(newer);
  writeFileSync(newer, bytes.fill(0xff, 4096 * 3, 4096 * 6));
  t.match(await larder(`go-back ${newer}`), { code: 1, err: /is damaged|malformed/ });
  t.ok(migrationsIn(join(data, 'larder.db')).includes('9999-newer'), 'nothing was changed');
});

largeTest('an upgrade that is killed leaves the old or the new, and the next one finishes', async (t) => {
  const { data, larder } = await newStore(t);
  const [turns, later] = long ? [60, 23] : [2, 120];
  for (let turn = 0; turn < turns; turn++) {
    const pause = 120 + ((turn * later) % 240);
    await makeOlder(data);
    rmSync(join(data, upgradesFolder), { recursive: true, force: true });
    const { child, ended } = start(t, ['account', 'list', '--data', data]);
    await sleep(pause);
    child.kill('SIGKILL');
    await ended;
    const [copy] = listUpgradeCopies(data);
    if (copy !== undefined) t.same([checkDatabase(copy), accountsIn(copy)], [[], ['ada']]);
    else t.equal(migrationsIn(join(data, 'larder.db')).length, all.length - 1, 'no copy, no change');
    t.match(await larder('account list'), { code: 0, out: /ada-id/ });
    const copies = existsSync(join(data, upgradesFolder)) ? readdirSync(join(data, upgradesFolder)) : [];
    t.notOk(copies.some((name) => name.includes('.partial')));
    t.same(checkDatabase(join(data, 'larder.db')), []);
  }
});

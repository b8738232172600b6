import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { sql, type Database } from '#engine/database.ts';
import { migrate } from '#engine/migrate.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { migrations } from '#data/upgrade.ts';
import { openStore } from '#data/store.ts';
import { startStore } from '#test/fixtures/appliance.ts';

function place(t: { teardown(work: () => unknown): void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'larder-migrate-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'larder.db');
}

const tables = async (db: Database): Promise<string[]> =>
  (await db.all<{ name: string }>(sql`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)).map(
    ({ name }) => name,
  );

/** The migrations of the first release. */
const firstRelease = migrations().filter(({ name }) => name < '0027');

const first = {
  name: '0001-first',
  text: 'CREATE TABLE one (id INTEGER PRIMARY KEY); CREATE TABLE two (id INTEGER PRIMARY KEY);',
};
const second = { name: '0002-second', text: 'ALTER TABLE one ADD COLUMN name TEXT;' };

t.test('each migration runs once, in order', async (t) => {
  const file = place(t);
  const db = openSqlite(file);
  t.same(await migrate(db, [first]), ['0001-first']);
  t.same(await migrate(db, [first]), []);
  t.same(await migrate(db, [first, second]), ['0002-second']);
  t.same(await migrate(db, [first, second]), []);
  t.same(await tables(db), ['migrations', 'one', 'two']);
  await db.close();
  const again = openSqlite(file);
  t.teardown(() => again.close());
  t.same(await migrate(again, [first, second]), [], 'and it is remembered');
});

t.test('a failed migration leaves no changes', async (t) => {
  const db = openSqlite(place(t));
  t.teardown(() => db.close());
  const broken = { name: '0002-broken', text: 'CREATE TABLE three (id INTEGER); NONSENSE;' };
  await t.rejects(
    migrate(db, [first, broken, { name: '0003-third', text: 'CREATE TABLE four (id INTEGER);' }]),
    /syntax error/,
  );
  t.same(await tables(db), ['migrations', 'one', 'two']);
  t.same(await migrate(db, [first, { ...broken, text: 'CREATE TABLE three (id INTEGER);' }]), ['0002-broken']);
});

t.test('data of a newer release is refused and stays unchanged', async (t) => {
  const db = openSqlite(place(t));
  t.teardown(() => db.close());
  await migrate(db, [first, second]);
  await t.rejects(
    migrate(db, [first]),
    /cannot open data written by a newer release of larder \(it holds 0002-second\)/,
  );
  t.same(await migrate(db, [first, second]), []);
});

t.test('a migration that joins others replaces them, and runs if none of them has', async (t) => {
  const joined = { name: '0003-joined', text: `${first.text} ${second.text}`, joins: [first.name, second.name] };
  for (const before of [[], [first, second]]) {
    const db = openSqlite(place(t));
    t.teardown(() => db.close());
    await migrate(db, before);
    t.same(await migrate(db, [joined]), ['0003-joined']);
    t.same(await migrate(db, [joined]), []);
    t.same(await db.all(sql`SELECT name FROM migrations`), [{ name: '0003-joined' }]);
    t.same(await tables(db), ['migrations', 'one', 'two']);
  }
  const db = openSqlite(place(t));
  t.teardown(() => db.close());
  await migrate(db, [first]);
  await t.rejects(migrate(db, [joined]), /unreleased state of larder \(it holds 0001-first, but not 0002-second\)/);
  t.same(await migrate(db, [first, second]), ['0002-second'], 'and is left as it is');
});

t.test('two processes that open new data at one moment do not disturb each other', async (t) => {
  const file = place(t);
  const both = [openSqlite(file), openSqlite(file)];
  t.teardown(() => Promise.all(both.map((db) => db.close())));
  const ran = await Promise.all(both.map((db) => migrate(db, migrations())));
  t.same(
    ran.flat().sort(),
    migrations()
      .map(({ name }) => name)
      .sort(),
    'each migration was run by one of them',
  );
});

t.test('the migrations are numbered in order, and each states its purpose', (t) => {
  const all = migrations();
  t.ok(all.length >= 6);
  for (const [at, { name, text }] of all.entries()) {
    // The numbers 0027 to 0094 were used by the migrations that are joined, and are not used again.
    const number = at < 26 ? at + 1 : at + 69;
    t.match(name, new RegExp(`^${String(number).padStart(4, '0')}-[a-z0-9-]+$`));
    t.match(text, /^-- [A-Z]/, name);
  }
  t.end();
});

t.test('a store opens its data again and again without a change', async (t) => {
  const store = await startStore(t);
  const schema = async (db: Database) => db.all(sql`SELECT type, name, sql FROM sqlite_master ORDER BY type, name`);
  const look = openSqlite(join(store.directory, 'larder.db'));
  t.teardown(() => look.close());
  const before = await schema(look);
  for (let turn = 0; turn < 2; turn++) await (await openStore({ directory: store.directory })).close();
  t.same(await schema(look), before);
});

t.test('no index is a prefix of another one', async (t) => {
  const db = openSqlite(place(t));
  t.teardown(() => db.close());
  await migrate(db, migrations());
  const rows = await db.all<{ name: string; of: string; text: string }>(sql`
    SELECT name, tbl_name AS of, sql AS text FROM sqlite_master WHERE type = 'index' AND sql LIKE 'CREATE INDEX %'`);
  const indexes = rows
    .filter(({ text }) => !text.includes(' WHERE '))
    .map(({ name, of, text }) => ({
      name,
      begins: `${of}: ${text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))},`,
    }));
  t.ok(indexes.length > 10);
  for (const index of indexes) {
    const longer = indexes.filter((other) => other !== index && other.begins.startsWith(index.begins));
    t.same(longer, [], index.name);
  }
});

t.test('the track of every package stays unchanged, with or without settings', async (t) => {
  const db = openSqlite(place(t));
  t.teardown(() => db.close());
  const all = migrations();
  await migrate(db, firstRelease);
  const [then, later] = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z'];
  await db.transaction(async (tx) => {
    await tx.script(`
      INSERT INTO accounts (id, username, display_name, email, validation, created_at)
        VALUES ('ada', 'ada', 'Ada', 'ada@example.com', 'unproven', '${then}');
      INSERT INTO packages (id, namespace, name, type, publisher_id, private, status, links, created_at)
        SELECT value, 'snap', value, 'snap', 'ada', 0, 'registered', '{}', '${then}'
        FROM json_each('["plain", "set", "older"]');
      INSERT INTO tracks (package_id, name, version_pattern, automatic_phasing_percentage, created_at) VALUES
        ('plain', 'latest', NULL, NULL, '${then}'), ('plain', '1.0', NULL, NULL, '${then}'),
        ('set', 'latest', '1.*', 5, '${then}'), ('older', 'latest', NULL, NULL, '${later}')`);
  });
  const before = await db.all(sql`SELECT * FROM tracks ORDER BY package_id, name`);
  await migrate(db, all);
  t.same(await db.all(sql`SELECT * FROM package_tracks ORDER BY package_id, name`), before);
  t.match(await db.all(sql`SELECT package_id AS id, name FROM tracks ORDER BY package_id, name`), [
    { id: 'older', name: 'latest' },
    { id: 'plain', name: '1.0' },
    { id: 'set', name: 'latest' },
  ]);
});

t.test('sessions of the console of an earlier release differ from tokens with the same name', async (t) => {
  const db = openSqlite(place(t));
  t.teardown(() => db.close());
  await migrate(db, firstRelease);
  await db.transaction(async (tx) => {
    await tx.run(sql`
      INSERT INTO accounts (id, username, display_name, email, validation, created_at)
      VALUES ('a', 'ada', 'Ada', 'ada@example.com', 'unproven', '')`);
    for (const session of ['one', 'two']) {
      await tx.run(sql`
        INSERT INTO macaroons (session_id, account_id, root_key_id, description, valid_since, valid_until)
        VALUES (${session}, 'a', 'r', 'Console', '', '')`);
    }
    await tx.run(sql`
      INSERT INTO audit (seq, at, actor, action, object, details, previous, hash)
      VALUES (1, '', 'a', 'begin_browser_session', 'session/two', '{}', '', '')`);
  });
  await migrate(db, migrations());
  t.same(await db.all(sql`SELECT session_id, kind FROM macaroons ORDER BY session_id`), [
    { session_id: 'one', kind: 'token' },
    { session_id: 'two', kind: 'console' },
  ]);
});

t.test(
  'packages that were there before they were counted are counted, whether or not they keep anything',
  async (t) => {
    const db = openSqlite(place(t));
    t.teardown(() => db.close());
    await migrate(db, firstRelease);
    await db.transaction((tx) =>
      tx.script(`
      INSERT INTO accounts (id, username, display_name, email, validation, created_at)
        SELECT value, value, value, value || '@example.com', 'unproven', '' FROM json_each('["ada", "bob", "carol"]');
      INSERT INTO packages (id, namespace, name, type, publisher_id, private, status, links, created_at)
        SELECT value, 'snap', value, 'snap', substr(value, 1, 3), 0, 'registered', '{}', ''
        FROM json_each('["ada-1", "ada-2", "bob-1"]');
      INSERT INTO revisions (package_id, revision, sha3_384, sha256, size, version, status, created_at, created_by, details)
        VALUES ('ada-1', 1, 'content', 'content', 7, '1', 'approved', '', 'ada', '{}')`),
    );
    await migrate(db, migrations());
    t.same(await db.all(sql`SELECT publisher_id AS id, packages, bytes FROM publishers ORDER BY id`), [
      { id: 'ada', packages: 2, bytes: 7 },
      { id: 'bob', packages: 1, bytes: 0 },
    ]);
  },
);

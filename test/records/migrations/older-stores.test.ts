// Stores of earlier releases, and of states of this one with each change as a migration of its own, become equal to a
// new store.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t, { type Test } from 'tap';

import { listUpgradeCopies, upgradesFolder } from '#backup/upgrade-copies.ts';
import { openRecords } from '#data/records.ts';
import { migrations, newStore } from '#data/upgrade.ts';
import { checkDatabase, migrationsIn } from '#engine/sqlite/check.ts';
import { migrate, type Migration } from '#engine/migrate.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { rowsOfFile } from '#test/fixtures/records/all-rows.ts';
import {
  comparableRows,
  lastCompared,
  olderStore,
  upgradedRows,
  type OlderStore,
} from '#test/fixtures/records/older-stores.ts';

/** Makes a data directory with the store, and returns the file of its database. */
function keep(t: Test, commit: OlderStore, more = ''): string {
  const directory = mkdtempSync(join(tmpdir(), 'larder-older-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'larder.db');
  change(file, olderStore(commit) + more);
  writeFileSync(join(directory, 'larder.toml'), '');
  return file;
}

/** Runs statements without the rules that tie rows together: a dump has its tables in any order. */
function change(file: string, text: string): void {
  const db = new SQLite(file);
  db.pragma('foreign_keys = OFF');
  db.exec(`BEGIN; ${text} COMMIT;`);
  db.close();
}

async function upgrade(file: string, to: readonly Migration[] = migrations()): Promise<string[]> {
  const db = openSqlite(file);
  return migrate(db, to, newStore('sqlite')).finally(() => db.close());
}

const schemaOf = (db: SQLite.Database): unknown[] =>
  db.prepare('SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name').all();

function schemaIn(file: string): unknown[] {
  const db = new SQLite(file, { readonly: true });
  try {
    return schemaOf(db);
  } finally {
    db.close();
  }
}

function newSchema(): unknown[] {
  const db = new SQLite(':memory:');
  db.exec(`CREATE TABLE migrations (name TEXT PRIMARY KEY); ${newStore('sqlite')}`);
  return schemaOf(db);
}

const names = migrations().map(({ name }) => name);
const joined = migrations().filter(({ joins = [] }) => joins.length > 0);

/** Statements that record migrations as the states did that had them one by one. */
const oneByOne = joined
  .map(({ name, joins = [] }) => {
    const values = joins.map((migration) => `('${migration}')`).join(', ');
    return `DELETE FROM migrations WHERE name = '${name}'; INSERT INTO migrations (name) VALUES ${values};`;
  })
  .join('\n');

for (const commit of ['8ade26e', 'a1407c7'] as const) {
  t.test(`a store of ${commit} gets the tables of a new store, and the rows that single migrations left`, async (t) => {
    const file = keep(t, commit);
    const compared = migrations().filter(({ name }) => name <= lastCompared);
    t.same(await upgrade(file, compared), ['0095-since-first-release', lastCompared]);
    t.strictSame(comparableRows(await rowsOfFile(file)), upgradedRows(commit));
    await upgrade(file);
    t.strictSame(schemaIn(file), newSchema());
    t.same(migrationsIn(file), names);
    t.same(await upgrade(file), [], 'and it is remembered');
  });
}

t.test('a store that ran each of the joined migrations only records their new names', async (t) => {
  const file = keep(t, '8ade26e');
  await upgrade(file);
  const [schema, rows] = [schemaIn(file), comparableRows(await rowsOfFile(file))];
  change(file, oneByOne);
  t.equal(migrationsIn(file).length, 94 + names.length - 28);
  t.same(
    await upgrade(file),
    joined.map(({ name }) => name),
  );
  t.same(migrationsIn(file), names);
  t.strictSame(schemaIn(file), schema);
  t.strictSame(comparableRows(await rowsOfFile(file)), rows);
});

t.test('two processes that open an older store at one moment do not disturb each other', async (t) => {
  const file = keep(t, 'a1407c7');
  const ran = await Promise.all([upgrade(file), upgrade(file)]);
  t.same(ran.flat().sort(), names.slice(26), 'each of them once');
  t.strictSame(schemaIn(file), newSchema());
});

t.test('a store of an unreleased state is refused with the remedy, and stays unchanged', async (t) => {
  const states = [
    [
      `DELETE FROM migrations WHERE name = '0087-figures-beside-packages';`,
      /holds 0086-newest-packages, but not 0087-/,
    ],
    [`INSERT INTO migrations VALUES ('0088-links-from-init');`, /holds 0088-links-from-init, but not 0089-/],
    [`INSERT INTO migrations VALUES ('0095-since-first-release');`, /holds 0087-figures-beside-packages\)/],
  ] as const;
  for (const [more, holds] of states) {
    const file = keep(t, 'a1407c7', more);
    const before = [schemaIn(file), await rowsOfFile(file)];
    const refusal = await upgrade(file).catch((error: unknown) => error);
    t.match(refusal, { message: /^cannot open data written by an unreleased state of larder \(it holds / });
    t.match(refusal, { message: holds });
    t.match(refusal, { message: /open it once with commit [0-9a-f]{8} of larder, .* and then with this release$/ });
    t.strictSame([schemaIn(file), await rowsOfFile(file)], before);
  }
});

t.test('data of single migrations is copied before it is changed, and that copy is the newest', async (t) => {
  const file = keep(t, 'a1407c7');
  const directory = join(file, '..');
  const folder = join(directory, upgradesFolder);
  mkdirSync(folder);
  for (const name of ['0027-needed-contents', '0088-links-from-init', '0094-licenses'])
    writeFileSync(join(folder, `${name}.db`), '');
  const { records, upgrade: done, close } = await openRecords(directory);
  t.match(done, { migrations: joined.map(({ name }) => name), copy: join(folder, '0095-since-first-release.db') });
  t.match(await records.audit.newest(1000, 1), [{ action: 'upgrade_store' }]);
  await close();
  t.equal(listUpgradeCopies(directory)[0], done?.copy);
  t.equal(migrationsIn(done!.copy!).at(-1), '0087-figures-beside-packages');
  t.same(checkDatabase(file), []);
});

// A new store gets its tables at once, as all migrations would make them: from src/records/new-store.sql, which is
// generated from them. With LARDER_KEEP=1 it is generated again.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { migrations } from '#data/upgrade.ts';
import { embeddedText } from '#platform/embedded.ts';
import { postgresSchema } from './postgres-schema.ts';

const file = 'src/records/new-store.sql';
/** Values that differ in each store come from the same expression as in their migration. */
const ownOfEach = `INSERT INTO appliance (name, value) VALUES ('store-epoch', lower(hex(randomblob(16))));`;

/** A database in memory. */
function made(...texts: string[]): SQLite.Database {
  const database = new SQLite(':memory:');
  database.pragma('foreign_keys = ON');
  database.exec('CREATE TABLE migrations (name TEXT PRIMARY KEY)');
  for (const text of texts) database.exec(text);
  return database;
}

const migrated = (): SQLite.Database =>
  made(...migrations().map(({ name, text }) => `INSERT INTO migrations (name) VALUES ('${name}'); ${text}`));

interface Part {
  type: string;
  name: string;
  sql: string | null;
}

const parts = (database: SQLite.Database): Part[] =>
  database.prepare<[], Part>('SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name').all();

/** The tables that are made by statements of ours, and not by SQLite for one of those. */
const tables = (database: SQLite.Database): string[] =>
  database
    .prepare<[], string>(
      `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite_%' ORDER BY name`,
    )
    .pluck()
    .all();

/** Every row, by table, without the values that differ in each store. */
const rows = (database: SQLite.Database): Record<string, unknown[]> =>
  Object.fromEntries(
    tables(database)
      .map((table): [string, unknown[]] => {
        const all = database.prepare<[], Record<string, unknown>>(`SELECT * FROM "${table}" ORDER BY 1`).all();
        return [table, all.filter(({ name }) => !(table === 'appliance' && name === 'store-epoch'))];
      })
      .filter(([, all]) => all.length > 0),
  );

/** The text of the result of these migrations: tables, their rows, and last the triggers on them. */
function written(database: SQLite.Database): string {
  const own = new Set(tables(database));
  const statements = (type: string): string[] =>
    parts(database)
      .filter((part) => part.type === type && part.sql !== null && (type !== 'table' || own.has(part.name)))
      .filter(({ name }) => name !== 'migrations')
      .map(({ sql }) => `${String(sql)};`);
  const inserts = Object.entries(rows(database)).flatMap(([table, all]) =>
    (all as Record<string, unknown>[]).map((row) => {
      const values = Object.values(row).map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
      return `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${values.join(', ')});`;
    }),
  );
  const head = [
    '-- A new store, as the migrations would leave it; made of them, and never edited.',
    '-- `LARDER_KEEP=1 npm test -- test/records/new-store.test.ts` makes it anew.',
  ];
  const order = ['table', 'index', 'view'].flatMap(statements);
  return [...head, ...order, ...inserts, ownOfEach, ...statements('trigger'), ''].join('\n');
}

t.test('a new store has what the migrations would leave, to the letter', (t) => {
  const then = migrated();
  if (process.env['LARDER_KEEP'] === '1') writeFileSync(join(import.meta.dirname, '../..', file), written(then));
  const now = made(embeddedText(file));
  const done = now.prepare<[], string>('SELECT name FROM migrations ORDER BY rowid').pluck().all();
  const all = migrations().map(({ name }) => name);
  t.strictSame(done, all, 'LARDER_KEEP=1 on this test brings new migrations into it');
  t.strictSame(parts(now), parts(then));
  t.strictSame(rows(now), rows(then));
  t.ok(migrations().some(({ text }) => text.includes(ownOfEach)));
  t.strictSame(Object.keys(rows(now)), ['migrations', 'noun_versions']);
  const epoch = (): unknown => made(embeddedText(file)).prepare(`SELECT value FROM appliance`).pluck().get();
  t.match(epoch(), /^[0-9a-f]{32}$/);
  t.not(epoch(), epoch(), 'and each store its own epoch');
  t.end();
});

t.test('a new store in PostgreSQL has the same, as it reads it', (t) => {
  const twin = 'src/records/new-store.postgres.sql';
  const translated = postgresSchema(embeddedText(file));
  if (process.env['LARDER_KEEP'] === '1') writeFileSync(join(import.meta.dirname, '../..', twin), translated);
  t.equal(embeddedText(twin), translated, 'LARDER_KEEP=1 on this test makes it anew');
  t.end();
});

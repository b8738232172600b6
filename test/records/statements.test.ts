// Every statement of the store, held against a database as the migrations make it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { migrate } from '#engine/migrate.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { migrations } from '#data/upgrade.ts';
import { columnLists, sourceStatements } from '#test/fixtures/records/statements.ts';

/** Tables that stay small with any number of packages: reading all of one is cheap. */
const small = new Set([
  'larder_releases',
  'vulnerability_feeds',
  'passing_feed_indexes',
  'passing_leases',
  'passing_shares',
  'migrations',
  'appliance',
  'store_administrators',
  'root_keys',
  'discharger_keys',
  'noun_versions',
  'sqlite_master',
  // Bounded, with any behaviour of strangers.
  'passing_familiar_places',
  'passing_proofs',
  'passing_codes',
]);

/** Commands of a person on the host that need all rows. */
const wholeLists = [
  / FROM brands ORDER BY account_id$/,
  / FROM accounts ORDER BY created_at, id$/,
  / FROM agents ORDER BY username$/,
  // All names, a thousand at a time.
  / FROM catalog_packages WHERE namespace = 'snap' AND name > \+?\? ORDER BY name LIMIT /,
  // Empty except for the latest changes.
  / FROM catalog_stale LIMIT /,
  // Read backwards as far as the last one, by `larder status` and `larder doctor`.
  / FROM audit WHERE action = \+?\? ORDER BY seq DESC LIMIT 1$/,
  // Signing keys are few.
  / FROM signing_keys WHERE requested_at IS NOT NULL\) AS "keyRequests"/,
  / AS (?:keys|id) FROM signing_keys$/,
  // By a person, when a transfer was lost.
  /^DELETE FROM sent_(?:contents|packages) WHERE sequence = /,
  // Accounts and corrupt blobs are few beside the rows that they are counted with.
  /\(SELECT COUNT\(\*\) FROM accounts\) AS accounts/,
];

interface Step {
  detail: string;
}

t.test('SQLite understands every statement, and finds its rows by an index', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'larder-sql-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'larder.db');
  const database = openSqlite(file);
  await migrate(database, migrations());
  await database.close();
  const db = new SQLite(file);
  t.teardown(() => db.close());

  const statements = sourceStatements();
  t.ok(statements.length > 60, `${statements.length} statements were found`);
  for (const { file: source, line, text, values } of statements) {
    const where = `${source}:${line}`;
    const flat = text.replace(/\s+/g, ' ');
    const isAsked = wholeLists.some((list) => list.test(flat));
    try {
      const steps = db
        .prepare<unknown[], Step>(`EXPLAIN QUERY PLAN ${text}`)
        .all(...Array.from({ length: values }, () => null));
      // The first rows in the order of an index, or of the table itself, are found without reading on.
      const isFirstOnes =
        / LIMIT /.test(flat) && !/ WHERE /.test(flat) && !steps.some(({ detail }) => /TEMP B-TREE/.test(detail));
      for (const { detail } of steps) {
        const [, alias = ''] = /^SCAN (\w+)/.exec(detail) ?? [];
        const [, table = alias] = new RegExp(`(\\w+) AS ${alias}\\b`).exec(flat) ?? [];
        const tolerated =
          alias === '' ||
          isFirstOnes ||
          isAsked ||
          small.has(table) ||
          // The result of a view is read whole; its lookups are steps of their own.
          isView(table) ||
          detail.includes('VIRTUAL TABLE') ||
          detail === 'SCAN CONSTANT ROW' ||
          // An intermediate result of the statement is read whole on purpose.
          flat.includes(`WITH RECURSIVE ${alias} (`) ||
          flat.includes(`) AS ${alias} `) ||
          // A partial index of few rows, such as the unclaimed uploads, may be read whole.
          (/USING (?:COVERING )?INDEX (\w+)/.exec(detail) ?? []).slice(1).some(isPartial);
        t.ok(tolerated, `${where}: ${detail}`);
      }
      t.pass(where);
    } catch (error) {
      t.fail(`${where}: ${(error as Error).message}`, { text });
    }
  }

  function isView(name: string): boolean {
    return db.prepare(`SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = ?`).get(name) !== undefined;
  }

  function isPartial(index: string): boolean {
    const row = db.prepare<[string], { sql: string }>(`SELECT sql FROM sqlite_master WHERE name = ?`).get(index);
    return / WHERE /.test(row?.sql ?? '');
  }
});

t.test('every reference to another table can be followed backwards by an index', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'larder-sql-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'larder.db');
  const database = openSqlite(file);
  await migrate(database, migrations());
  await database.close();
  const db = new SQLite(file);
  t.teardown(() => db.close());
  const tables = db.prepare<[], { name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table'`).all();
  for (const { name } of tables) {
    const references = db.prepare<[string], Reference>('SELECT * FROM pragma_foreign_key_list(?)').all(name);
    const columns = Map.groupBy(references, ({ id }) => id);
    for (const parts of columns.values()) {
      // Rows of these are never removed, so rows that refer to them are never looked up.
      if (parts[0]?.table === 'accounts') continue;
      const columnNames = parts.sort((a, b) => a.seq - b.seq).map(({ from }) => from);
      const plan = db
        .prepare<unknown[], Step>(
          `EXPLAIN QUERY PLAN SELECT 1 FROM ${name} WHERE ${columnNames.map((column) => `${column} = ?`).join(' AND ')}`,
        )
        .all(...columnNames.map(() => null));
      t.match(plan[0]?.detail, /^SEARCH/, `${name} (${columnNames.join(', ')})`);
    }
  }
});

interface Reference {
  id: number;
  seq: number;
  table: string;
  from: string;
}

t.test('a list of columns is written once', (t) => {
  const lists = columnLists();
  t.same(
    lists.map(({ name }) => name).filter((name, at, names) => names.indexOf(name) < at),
    [],
    'each has a name of its own',
  );
  const places = new Map<string, string[]>();
  const see = (place: string, text: string): void => {
    for (const [run] of text.replace(/\s+/g, ' ').matchAll(runOfColumns)) {
      places.set(run, [...(places.get(run) ?? []), place]);
    }
  };
  for (const { file, name, text } of lists) see(`${file}: ${name}`, text);
  for (const { file, line, parts } of sourceStatements()) {
    for (const part of parts) see(`${file}:${line}`, part);
  }
  t.ok(places.size > 60, 'lists were found');
  t.same(
    [...places].filter(([, where]) => where.length > 1),
    [],
  );
  t.end();
});

/** More than three names of columns in a row, with their values. */
const runOfColumns = /(?:\b[\w.]+(?: AS "?\w+"?)?, ){3,}[\w.]+(?: AS "?\w+"?)?/g;

t.test('the records speak the SQL of every engine', (t) => {
  const others =
    /\b(?:json_\w+|rowid|strftime|julianday|unixepoch|GLOB|sqlite_\w+|pragma\w*|IFNULL|total)\b|->|OR IGNORE|OR REPLACE/i;
  for (const { file, line, parts } of sourceStatements()) {
    const text = parts.join(' ? ');
    t.notMatch(text, others, `${file}:${line}`);
    t.notMatch(text, /CROSS JOIN \w+(?: AS \w+)? ON\b/, `${file}:${line}: a cross join has no condition`);
  }
  t.end();
});

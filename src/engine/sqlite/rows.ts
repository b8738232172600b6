// Reads or writes all rows of a database file unchanged.
import SQLite from 'better-sqlite3';

import { createPeriodicSync } from '#files/durable.ts';
import { batch, sizeOf, type Cell, type RowSource, type RowTarget, type StoreTable } from '../rows.ts';
import type { SqliteFileOptions } from './check.ts';
import { renewRowDigests } from './row-digests.ts';

type SqliteFile = SQLite.Database;

/** Opens a snapshot of a file, valid until it is closed. */
export function sqliteSource(file: string, options: SqliteFileOptions = {}): RowSource & { close(): void } {
  const db = open(file, { ...options, readonly: true });
  db.exec('BEGIN');
  return { ...readingOf(db), close: () => void db.close() };
}

/**
 * Opens the database of a new store as the target of a copy. No other process may have the file open. Removes its rows, indexes and triggers,
 * so that copying is fast. After the last row, call `finish`: it creates the indexes and triggers again, computes the digests of all rows, and
 * throws if a foreign key has no row. The caller makes the file durable.
 */
export function sqliteTarget(
  file: string,
  options: SqliteFileOptions = {},
): RowTarget & { finish(): void; close(): void } {
  const db = open(file, { ...options, readonly: false });
  const sent = createPeriodicSync(file);
  // An incomplete file is discarded, so it needs no journal.
  for (const pragma of ['journal_mode = DELETE', 'journal_mode = OFF', 'synchronous = OFF', 'foreign_keys = OFF'])
    db.pragma(pragma);
  db.pragma('cache_size = -16384');
  const later = db
    .prepare<[], { type: string; name: string; sql: string }>(
      `SELECT type, name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL
       ORDER BY type = 'trigger'`,
    )
    .all();
  for (const { type, name } of later) db.exec(`DROP ${type} ${quoted(name)}`);
  for (const { name } of tablesOf(db)) db.exec(`DELETE FROM ${quoted(name)}`);
  const inserts = new Map<string, SQLite.Statement>();
  let written = 0;
  const write = db.transaction((insert: SQLite.Statement, rows: Cell[][]) => {
    for (const row of rows) insert.run(...row);
  });
  return {
    ...readingOf(db),
    async write({ name, columns }, rows) {
      const insert =
        inserts.get(name) ??
        db.prepare(
          `INSERT INTO ${quoted(name)} (${columns.map(quoted).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
        );
      inserts.set(name, insert);
      write(insert, rows);
      written += rows.length;
      // Flush often: a store that serves from the same disk would wait for unwritten pages.
      if (written % (20 * batch.rows) < rows.length) sent.now();
    },
    finish() {
      for (const { sql } of later) db.exec(sql);
      const [lost] = db.pragma('foreign_key_check') as { table: string; parent: string }[];
      if (lost !== undefined) throw new Error(`a row of ${lost.table} refers to nothing in ${lost.parent}`);
      renewRowDigests(db);
    },
    close() {
      db.close();
      sent.close();
    },
  };
}

const readingOf = (db: SqliteFile): RowSource => ({
  tables: async () => tablesOf(db),
  async *read({ name, columns }) {
    const key = db
      .prepare<[string], string>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk')
      .pluck()
      .all(name);
    const order = key.length === 0 ? '' : ` ORDER BY ${key.map(quoted).join(', ')}`;
    const rows = db
      .prepare<[], Cell[]>(`SELECT ${columns.map(quoted).join(', ')} FROM ${quoted(name)}${order}`)
      .raw()
      .safeIntegers();
    let some: Cell[][] = [];
    let bytes = 0;
    for (const row of rows.iterate()) {
      some.push(row);
      bytes += sizeOf(row);
      if (bytes < batch.bytes && some.length < batch.rows) continue;
      yield some;
      [some, bytes] = [[], 0];
    }
    if (some.length > 0) yield some;
  },
});

/** Returns the tables without row digests, which the target computes itself, and without the internal tables of SQLite. */
function tablesOf(db: SqliteFile): StoreTable[] {
  const names = db
    .prepare<[], string>(
      `SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'row_digest*'
       ORDER BY name`,
    )
    .pluck()
    .all();
  const columns = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?) ORDER BY cid').pluck();
  return names.map((name) => ({ name, columns: columns.all(name) }));
}

function open(file: string, { nativeBinding, readonly }: SqliteFileOptions & { readonly: boolean }): SqliteFile {
  return new SQLite(file, {
    readonly,
    fileMustExist: true,
    timeout: 5000,
    ...(nativeBinding && { nativeBinding: nativeBinding as unknown as string }),
  });
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

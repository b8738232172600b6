// The triggers that keep the row digests of a connection. They are temporary, so each connection makes its own.
import type SQLite from 'better-sqlite3';

import type { SqlValue } from '../database.ts';
import { defineDigest, exempt, jsonKey, quoted } from './row-digests.ts';

/**
 * Makes the triggers of a table before the connection first writes it. To make all of them takes 9 ms, and most commands write few tables
 * (`npm run bench -- tricks`). Each new trigger makes SQLite prepare all statements again, so a connection that writes more tables gets the
 * remaining ones at once.
 */
export class DigestTriggers {
  readonly #writer: SQLite.Database;
  /** Statements with triggers for every table that they write. */
  #checked = new WeakSet<SQLite.Statement>();
  #tables: ReadonlySet<string> = new Set();
  #areComplete = false;
  /** The tables with triggers since the last commit. */
  #committed = { tables: this.#tables, areComplete: false };

  constructor(writer: SQLite.Database) {
    this.#writer = writer;
    defineDigest(writer);
  }

  /** Call before each run of a statement, in its transaction. */
  prepareFor(statement: SQLite.Statement<SqlValue[]>, values: () => readonly SqlValue[]): void {
    if (this.#areComplete || statement.readonly || this.#checked.has(statement)) return;
    const tables = writtenTables(this.#writer, statement.source, values()).filter((table) => !this.#tables.has(table));
    const areMany = this.#tables.size + tables.length > maxTablesInTurn;
    if (tables.length > 0) createTriggers(this.#writer, areMany ? undefined : tables);
    this.#areComplete = areMany;
    if (tables.length > 0) this.#tables = new Set([...this.#tables, ...tables]);
    this.#checked.add(statement);
  }

  /** Call after a commit. */
  committed(): void {
    this.#committed = { tables: this.#tables, areComplete: this.#areComplete };
  }

  /**
   * Call when a transaction or a part of it was rolled back, and its triggers with it. Triggers of earlier commits stay: to make them again
   * after each refused change would cost more than the change (`npm run bench -- tricks`).
   */
  rolledBack(): void {
    const { tables, areComplete } = this.#committed;
    if (this.#tables === tables && this.#areComplete === areComplete) return;
    this.#checked = new WeakSet();
    this.#tables = tables;
    this.#areComplete = areComplete;
  }
}

const maxTablesInTurn = 8;

/** Makes the triggers of these tables, or of all. */
export const createTriggers = (writer: SQLite.Database, tables?: readonly string[]): void =>
  void writer.exec(shapes(writer, tables).map(triggersOf).join('\n'));

/**
 * Returns the guarded tables that a statement writes, itself or by foreign keys and triggers. Only the program of the statement knows that:
 * it opens each table for writing by its first page, or clears it.
 */
function writtenTables(writer: SQLite.Database, source: string, values: readonly SqlValue[]): string[] {
  const pages = new Set<number>();
  const program = writer.prepare<SqlValue[], [unknown, string, number, number, number]>(`EXPLAIN ${source}`).raw();
  for (const [, code, p1, p2, p3] of program.all(...values)) {
    if (code === 'OpenWrite' && p3 === mainDatabase) pages.add(p2);
    if (code === 'Clear' && p2 === mainDatabase) pages.add(p1);
  }
  return writer
    .prepare<[string], string>(
      `SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage IN (SELECT value FROM json_each(?))`,
    )
    .pluck()
    .all(JSON.stringify([...pages]))
    .filter((table) => !exempt.test(table));
}

/** The number of the file in the programs of SQLite; temporary tables are in number 1. */
const mainDatabase = 0;

interface DigestedTable {
  table: string;
  columns: string[];
  key: string[];
}

/** Reads the columns of these tables, or of all, in one query. One query per table took half of the time for making the triggers. */
function shapes(writer: SQLite.Database, names?: readonly string[]): DigestedTable[] {
  const tables = new Map<string, DigestedTable>();
  const columns = writer.prepare<[string | null, string | null], { table: string; column: string; pk: number }>(
    `SELECT tables.name AS "table", columns.name AS "column", columns.pk
     FROM main.sqlite_master AS tables, pragma_table_info(tables.name) AS columns
     WHERE tables.type = 'table' AND (? IS NULL OR tables.name IN (SELECT value FROM json_each(?)))
     ORDER BY tables.name, columns.cid`,
  );
  const list = names === undefined ? null : JSON.stringify(names);
  for (const { table, column, pk } of columns.all(list, list)) {
    if (exempt.test(table)) continue;
    const shape = tables.get(table) ?? { table, columns: [], key: [] };
    shape.columns.push(column);
    if (pk > 0) shape.key[pk - 1] = column;
    tables.set(table, shape);
  }
  return [...tables.values()];
}

function triggersOf({ table, columns, key }: DigestedTable): string {
  const name = quoted(table);
  const text = `'${table.replaceAll("'", "''")}'`;
  const digestOf = (row: string): string =>
    `row_digest(${columns.map((column) => `${row}.${quoted(column)}`).join(', ')})`;
  const [before, after] = [jsonKey(key, 'OLD'), jsonKey(key, 'NEW')];
  const put = `INSERT INTO row_digests (of_table, row, digest) VALUES (${text}, ${after}, ${digestOf('NEW')})
      ON CONFLICT (row, of_table) DO UPDATE SET digest = excluded.digest;`;
  // A row that was corrupt before stays marked as corrupt after an update, because its other columns are still wrong.
  const renew = `UPDATE OR REPLACE row_digests SET row = ${after},
        digest = CASE digest WHEN ${digestOf('OLD')} THEN ${digestOf('NEW')} ELSE zeroblob(16) END
      WHERE of_table = ${text} AND row = ${before};`;
  const drop = `DELETE FROM row_digests WHERE of_table = ${text} AND row = ${before};`;
  return `
      CREATE TEMP TRIGGER IF NOT EXISTS ${quoted(`digest_new_${table}`)} AFTER INSERT ON main.${name} BEGIN ${put} END;
      CREATE TEMP TRIGGER IF NOT EXISTS ${quoted(`digest_changed_${table}`)} AFTER UPDATE ON main.${name} BEGIN ${renew} END;
      CREATE TEMP TRIGGER IF NOT EXISTS ${quoted(`digest_gone_${table}`)} AFTER DELETE ON main.${name} BEGIN ${drop} END;`;
}

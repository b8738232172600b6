// Row digests detect corruption that SQLite's own check misses. `integrity_check` follows pages and indexes; a flipped bit inside a text
// passes it. So every row has a digest, written by triggers in the transaction that writes the row. The triggers are temporary and belong
// to the writing connection: they call a function of ours, so another program that changes a row leaves the old digest behind.
import { createDigest, computeDigest } from '#domain/cryptography.ts';
import type SQLite from 'better-sqlite3';

import type { SqlValue } from '../database.ts';

type SqliteDatabase = SQLite.Database;

/**
 * Tables without row digests. The audit log has its own chain; the digest of the schema covers the migrations; ephemeral rows and counters
 * may be lost; figures and the words of the catalog can be rebuilt from other rows.
 */
export const exempt =
  /^(?:sqlite_.*|migrations|audit.*|passing_.*|notes|package_days|noun_versions|kept_contents|catalog_words|catalog_stale|.*_figures|row_digest.*)$/;

/** Computes the digests that migrations have made necessary. Make `DigestTriggers` before the connection writes a row. */
export function renewRowDigests(writer: SqliteDatabase): void {
  defineDigest(writer);
  withBusyTimeout(writer, () => {
    const schema = schemaName(writer);
    const isKnown = writer.prepare('SELECT 1 FROM row_digest_tables WHERE of_table = ?').get(schema) !== undefined;
    // Runs once per schema, in one transaction. The check comes first so that a command alongside a busy server does not wait for the lock.
    if (!isKnown) writer.transaction(() => recomputeDigests(writer, schema)).immediate();
  });
}

function withBusyTimeout(writer: SqliteDatabase, work: () => unknown): void {
  const before = writer.pragma('busy_timeout', { simple: true });
  writer.pragma('busy_timeout = 5000');
  work();
  writer.pragma(`busy_timeout = ${String(before)}`);
}

/** The place of a row: its rowid, or its key as JSON if its table has no rowids or the row is missing. */
export type RowPlace = number | string;

/** Returns the place of a row that exists and differs from its digest. Returns undefined if it matches, or if its table has no digests. */
export function findCorruptRow(
  connection: SqliteDatabase,
  table: string,
  key: Readonly<Record<string, SqlValue>>,
): RowPlace | undefined {
  const searchColumns = Object.keys(key);
  const search = searchFor(connection, table, searchColumns);
  return search?.get(table, ...searchColumns.map((column) => key[column]!))?.row;
}

type Search = SQLite.Statement<SqlValue[], { row: RowPlace }>;

const searches = new WeakMap<SqliteDatabase, Map<string, Search>>();

/** Prepared once per table. See `defineDigest` for the time this saves, and `sqliteText` for `+?`. */
function searchFor(connection: SqliteDatabase, table: string, searchColumns: string[]): Search | undefined {
  const cached = searches.get(connection) ?? new Map<string, Search>();
  searches.set(connection, cached);
  const name = [table, ...searchColumns].join(' ');
  const search = cached.get(name) ?? prepareSearch(connection, table, searchColumns);
  if (search !== undefined) cached.set(name, search);
  return search;
}

function prepareSearch(connection: SqliteDatabase, table: string, searchColumns: string[]): Search | undefined {
  const covered = connection.prepare('SELECT 1 FROM row_digest_tables WHERE of_table = ?').get(table);
  if (covered === undefined) return undefined;
  defineDigest(connection);
  const columns = columnsOf(connection, table).map((column) => `rows.${quoted(column)}`);
  const conditions = searchColumns.map((column) => `rows.${quoted(column)} = +?`);
  return connection.prepare<SqlValue[], { row: RowPlace }>(
    `SELECT ${placeOf(connection, table)} AS row FROM ${quoted(table)} AS rows
     LEFT JOIN row_digests AS known ON known.of_table = +? AND known.row = ${keyOf(connection, table, 'rows')}
     WHERE ${conditions.join(' AND ')} AND known.digest IS NOT row_digest(${columns.join(', ')})`,
  );
}

/** Computes the digest of every row: a migration may have changed rows of any table without keeping digests. */
function recomputeDigests(writer: SqliteDatabase, schema: string): void {
  for (const table of guarded(writer)) digestAll(writer, table, columnsOf(writer, table));
  writer.prepare(`DELETE FROM row_digest_tables WHERE of_table GLOB '(schema *'`).run();
  writer
    .prepare('INSERT INTO row_digest_tables (of_table, columns) VALUES (?, ?) ON CONFLICT (of_table) DO NOTHING')
    .run(schema, schemaDigest(writer));
}

/** A row that differs from its digest, has no digest, or is missing. */
export interface CorruptRow {
  table: string;
  row: RowPlace;
  problem: 'changed' | 'not written by larder' | 'missing';
}

/** Compares every row with its digest. Yields undefined after each table, so that the caller can pause. */
export function* findCorruptRows(reader: SqliteDatabase): Generator<CorruptRow | undefined> {
  defineDigest(reader);
  const schema = coveredColumns(reader, schemaName(reader));
  if (schema !== schemaDigest(reader)) yield { table: 'sqlite_master', row: 0, problem: 'changed' };
  const digestCounts = new Map(
    reader.prepare<[], [string, number]>('SELECT of_table, COUNT(*) FROM row_digests GROUP BY of_table').raw().all(),
  );
  for (const table of guarded(reader)) {
    // The list of digested columns has no digest itself, but it can have only one correct value.
    const actual = columnsOf(reader, table);
    if (coveredColumns(reader, table) !== actual.join(','))
      yield { table: 'row_digest_tables', row: 0, problem: 'changed' };
    const columns = actual.map((column) => `rows.${quoted(column)}`).join(', ');
    const changed = reader.prepare<[string], { row: RowPlace; known: Buffer | null }>(`
      SELECT ${placeOf(reader, table)} AS row, known.digest AS known FROM ${quoted(table)} AS rows
      LEFT JOIN row_digests AS known ON known.of_table = ? AND known.row = ${keyOf(reader, table, 'rows')}
      WHERE known.digest IS NOT row_digest(${columns})`);
    let unknownCount = 0;
    for (const { row, known: storedDigest } of changed.iterate(table)) {
      if (storedDigest === null) unknownCount++;
      yield { table, row, problem: storedDigest === null ? 'not written by larder' : 'changed' };
    }
    const rowCount = reader
      .prepare<[], number>(`SELECT COUNT(*) FROM ${quoted(table)}`)
      .pluck()
      .get()!;
    // Search for digests without a row only if there are more digests than rows.
    if ((digestCounts.get(table) ?? 0) > rowCount - unknownCount) yield* missingRows(reader, table);
    yield undefined;
  }
}

function* missingRows(reader: SqliteDatabase, table: string): Generator<CorruptRow> {
  const missing = reader.prepare<[string], { row: RowPlace }>(`
    SELECT known.row FROM row_digests AS known WHERE known.of_table = ?
    AND NOT EXISTS (SELECT 1 FROM ${quoted(table)} AS rows WHERE ${hasKey(reader, table)})`);
  for (const { row } of missing.iterate(table)) yield { table, row, problem: 'missing' };
}

const coveredColumns = (connection: SqliteDatabase, name: string): string | undefined =>
  connection.prepare<[string], string>('SELECT columns FROM row_digest_tables WHERE of_table = ?').pluck().get(name);

function digestAll(writer: SqliteDatabase, table: string, columns: string[]): void {
  writer.prepare('DELETE FROM row_digests WHERE of_table = ?').run(table);
  writer
    .prepare(
      `INSERT INTO row_digests (of_table, row, digest)
       SELECT ?, ${keyOf(writer, table, quoted(table))}, row_digest(${columns.map(quoted).join(', ')}) FROM ${quoted(table)}`,
    )
    .run(table);
  writer
    .prepare(
      `INSERT INTO row_digest_tables (of_table, columns) VALUES (?, ?)
       ON CONFLICT (of_table) DO UPDATE SET columns = excluded.columns`,
    )
    .run(table, columns.join(','));
}

const guarded = (connection: SqliteDatabase): string[] =>
  connection
    .prepare<[], { name: string }>(`SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY name`)
    .all()
    .map(({ name }) => name)
    .filter((name) => !exempt.test(name));

/** Names the schema by the number of migrations, so that the next migration has another name. */
const schemaName = (connection: SqliteDatabase): string => {
  const { done } = connection.prepare<[], { done: number }>('SELECT COUNT(*) AS done FROM migrations').get()!;
  return `(schema ${String(done)})`;
};

const schemaDigest = (connection: SqliteDatabase): string =>
  computeDigest(
    'row',
    JSON.stringify([
      ...connection.prepare('SELECT type, name, tbl_name, sql FROM main.sqlite_master ORDER BY name').raw().all(),
      ...connection.prepare('SELECT rowid, * FROM migrations ORDER BY rowid').raw().all(),
    ]),
  );

const columnsOf = (connection: SqliteDatabase, table: string): string[] =>
  connection
    .prepare<[string], { name: string }>('SELECT name FROM pragma_table_info(?) ORDER BY cid')
    .all(table)
    .map(({ name }) => name);

/** Returns the key of a row's digest: the primary key as JSON, or the rowid if the table has none. Digests of older releases use rowids. */
function keyOf(connection: SqliteDatabase, table: string, row: string): string {
  const key = keyColumns(connection, table);
  if (usesRowids(connection)) return `${row}.rowid`;
  return jsonKey(key, row);
}

export const jsonKey = (key: string[], row: string): string =>
  `json_array(${key.length === 0 ? `${row}.rowid` : key.map((column) => `${row}.${quoted(column)}`).join(', ')})`;

/** Returns the condition that a row belongs to a digest. */
function hasKey(connection: SqliteDatabase, table: string): string {
  if (usesRowids(connection)) return 'rows.rowid = known.row';
  const key = keyColumns(connection, table).map(quoted);
  return (key.length === 0 ? ['rowid'] : key)
    .map((column, at) => `rows.${column} = json_extract(known.row, '$[${String(at)}]')`)
    .join(' AND ');
}

const placeOf = (connection: SqliteDatabase, table: string): string =>
  connection.prepare('SELECT 1 FROM pragma_table_list(?) WHERE wr').get(table) === undefined
    ? 'rows.rowid'
    : keyOf(connection, table, 'rows');

const keyColumns = (connection: SqliteDatabase, table: string): string[] =>
  connection
    .prepare<[string], string>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk')
    .pluck()
    .all(table);

/** Returns whether the digests come from an older release. Such a database is checked before it is upgraded. */
const usesRowids = (connection: SqliteDatabase): boolean =>
  connection.prepare(`SELECT 1 FROM pragma_table_info('row_digests') WHERE name = 'row' AND type = 'INTEGER'`).get() !==
  undefined;

const defined = new WeakSet<SqliteDatabase>();

/**
 * Defines `row_digest`: 128 bits of SHA-256 over the values, each with its type. It detects accidents, not attacks. It is defined once per
 * connection, because a new definition makes SQLite prepare all statements of the connection again. Without this, and without the prepared
 * statements of `searchFor`, preparing took more than half of a release's processor time (`npm run bench -- writes`).
 */
export function defineDigest(connection: SqliteDatabase): void {
  if (defined.has(connection)) return;
  defined.add(connection);
  connection.function(
    'row_digest',
    { varargs: true, deterministic: true, safeIntegers: true },
    (...values: unknown[]) => {
      digest.write(sha256Of(values), 0, digest.length, 'hex');
      return digest;
    },
  );
}

/**
 * SQLite copies the result, so one buffer is enough. A new buffer for each digest would be a quarter of its cost (`npm run bench --
 * writes`).
 */
const digest = Buffer.alloc(16);

/** Hashes long values, such as the receipt of a transfer, in pieces. Joined, they would be in memory three times. */
function sha256Of(values: readonly unknown[]): string {
  if (!values.some(isLong)) return computeDigest('row', values.map(marked).join('\u0000'));
  const digesting = createDigest('row');
  for (const [at, value] of values.entries()) {
    if (at > 0) digesting.update('\u0000');
    if (!isLong(value)) {
      digesting.update(marked(value));
      continue;
    }
    digesting.update(`t${String(value.length)}:`);
    for (const some of inPieces(value)) digesting.update(some);
  }
  return digesting.digest('hex');
}

const pieceLength = 64 * 1024;

const isLong = (value: unknown): value is string => typeof value === 'string' && value.length > 4 * pieceLength;

/** Splits a text into pieces without splitting a surrogate pair. */
function* inPieces(text: string): Generator<string> {
  for (let begin = 0; begin < text.length;) {
    let end = Math.min(begin + pieceLength, text.length);
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
    yield text.slice(begin, end);
    begin = end;
  }
}

function marked(value: unknown): string {
  if (value === null) return 'n';
  if (typeof value === 'string') return `t${String(value.length)}:${value}`;
  if (typeof value === 'bigint') return `i${String(value)}`;
  if (typeof value === 'number') return `r${String(value)}`;
  if (Buffer.isBuffer(value)) return `b${value.toString('base64')}`;
  throw new Error(`cannot digest a value of type ${typeof value}`);
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

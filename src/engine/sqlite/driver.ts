// The SQLite engine: one writer connection, used in turn, and one reader that sees only committed rows while the writer is in a transaction.
import { statSync } from 'node:fs';

import SQLite from 'better-sqlite3';

import { List, sql, type Database, type Queries, type SqlStatement, type SqlValue } from '../database.ts';
import { commitCounter, type CommitCounter } from './commit-counter.ts';
import { DatabaseLost, findLoss } from './disk-errors.ts';
import { GroupCommit } from './group-commit.ts';
import { DigestTriggers } from './digest-triggers.ts';
import { findCorruptRow, renewRowDigests, type RowPlace } from './row-digests.ts';
import { readThroughWriter } from './warm-reads.ts';

export interface SqliteOptions {
  /** The loaded native module, if better-sqlite3 cannot find it by itself. */
  nativeBinding?: object | undefined;
  /** Called when the disk fails during a write, or the locks of this process are lost. From then on no change may be acknowledged. */
  fatal?: (error: Error) => void;
  /** Called when the disk is full. Returns true if there is room now, so that the transaction can run a second time. */
  makeRoom?: () => Promise<boolean>;
  /** Called with a corrupt row when a caller was about to use it. */
  damaged?: (table: string, row: RowPlace) => void;
}

type SqliteConnection = SQLite.Database;
type SqliteStatement = SQLite.Statement<SqlValue[]>;

/**
 * Opens a database file. Every commit is on disk before it is reported: `synchronous` is FULL, and this throws if SQLite reports another
 * value. Other processes may have the same file open; each waits for the commits of the others.
 */
export function openSqlite(file: string, options: SqliteOptions = {}): Database {
  const { writer, reader, commits } = connect(file, options);
  const guard = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      const loss = findLoss(error, reader);
      if (loss !== undefined) options.fatal?.(loss);
      throw error;
    }
  };
  const reading = queries(reader, preparer(reader), options.damaged, guard);
  let triggers: DigestTriggers | undefined;
  const prepare = preparer(writer, () => triggers);
  const writing = queries(writer, prepare, options.damaged);
  const warm = readThroughWriter({ writer, prepare, valuesOf: sqliteValues }, reading);
  const turns = new GroupCommit(writer, writing, {
    ...options,
    committed() {
      commits.invalidate();
      triggers?.committed();
    },
    rolledBack: () => triggers?.rolledBack(),
  });
  let closed = false;

  return {
    get: warm.get,
    all: warm.all,
    isDamaged: reading.isDamaged,
    hasTable: reading.hasTable,
    version() {
      try {
        return commits.count();
      } catch (error) {
        options.fatal?.(new DatabaseLost(file, error));
        throw error;
      }
    },
    async transaction(work) {
      if (closed) throw new Error('cannot write: the database is closed');
      return turns.transaction(work);
    },
    keepRowDigests() {
      renewRowDigests(writer);
      triggers = new DigestTriggers(writer);
    },
    size: () => Promise.resolve({ bytes: sizeOf(file), logBytes: sizeOf(`${file}-wal`) }),
    async close() {
      if (closed) return;
      await turns.settled();
      closed = true;
      reader.close();
      writer.close();
    },
  };
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Opens one connection for writes, and another one for reads, which sees only committed rows. */
function connect(
  file: string,
  { nativeBinding }: SqliteOptions,
): { writer: SqliteConnection; reader: SqliteConnection; commits: CommitCounter } {
  const opened: SqliteConnection[] = [];
  const open = (): SqliteConnection => {
    const connection = new SQLite(file, {
      timeout: busyTimeoutMs,
      ...(nativeBinding && { nativeBinding: nativeBinding as unknown as string }),
    });
    opened.push(connection);
    configure(connection);
    return connection;
  };
  try {
    const writer = open();
    writer.pragma('busy_timeout = 0'); // SQLite's own wait would block the thread; `begin` waits instead
    const reader = open();
    reader.pragma('query_only = ON');
    reader.pragma('cache_size = -2048'); // it reads only while the writer is in a transaction
    return { writer, reader, commits: commitCounter(file, reader) };
  } catch (error) {
    for (const connection of opened) connection.close();
    throw error;
  }
}

/** Milliseconds to wait for another process that opens or closes the file. */
const busyTimeoutMs = 5000;

function configure(connection: SqliteConnection): void {
  // Scans of jobs fill the cache of an idle store. With 16 MiB, queries about 10,000 packages in random order take 2 % less, and changes 3 %
  // more; with 4 MiB, the queries take 10 % more.
  connection.pragma('cache_size = -8192');
  connection.pragma('journal_mode = WAL');
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  connection.pragma('trusted_schema = OFF');
  connection.pragma('cell_size_check = ON');
  connection.pragma('journal_size_limit = 67108864');
  const synchronous = connection.pragma('synchronous', { simple: true });
  if (synchronous !== 2) throw new Error(`cannot promise durability: synchronous is ${String(synchronous)}, not FULL`);
}

/**
 * Returns a function that prepares statements. The text of a statement is one array for the life of the program, so the array is the key. To
 * prepare it each time would add 15 µs to a query of 3 µs (`npm run bench -- tricks`).
 */
function preparer(
  connection: SqliteConnection,
  triggers: () => DigestTriggers | undefined = () => undefined,
): (query: SqlStatement) => SqliteStatement {
  const prepared = new Map<readonly string[], SqliteStatement>();
  return (query) => {
    let statement = prepared.get(query.text);
    if (statement === undefined) {
      statement = connection.prepare<SqlValue[]>(sqliteText(query));
      prepared.set(query.text, statement);
    }
    triggers()?.prepareFor(statement, () => sqliteValues(query));
    return statement;
  };
}

function queries(
  connection: SqliteConnection,
  prepare: (query: SqlStatement) => SqliteStatement,
  damaged: SqliteOptions['damaged'],
  guard = <Result>(work: () => Result): Result => work(),
): Queries {
  return {
    get: async <Row>(statement: SqlStatement) =>
      guard(() => prepare(statement).get(...sqliteValues(statement)) as Row | undefined),
    all: async <Row>(statement: SqlStatement) =>
      guard(() => prepare(statement).all(...sqliteValues(statement)) as Row[]),
    run: async (statement: SqlStatement) => prepare(statement).run(...sqliteValues(statement)).changes,
    write: async (statement: SqlStatement) => void prepare(statement).run(...sqliteValues(statement)),
    script: async (text: string) => void connection.exec(text),
    async isDamaged(table, key) {
      const row = findCorruptRow(connection, table, key);
      if (row !== undefined) damaged?.(table, row);
      return row !== undefined;
    },
    hasTable: async (name) => prepare(tables).get(name) !== undefined,
  };
}

const tables = sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${''}`;

/**
 * Returns a statement in SQLite's syntax. `+?` has the same value as `?`. This build of SQLite looks into plain parameters when it plans a
 * join or a partial index, and then plans again at every call: 9 µs for a query of 3 µs (`npm run bench -- tricks`).
 */
export const sqliteText = ({ text, values }: SqlStatement): string =>
  text.reduce(
    (before, after, at) =>
      `${before}${values[at - 1] instanceof List ? '(SELECT value FROM json_each(+?))' : '+?'}${after}`,
  );

const sqliteValues = ({ values }: SqlStatement): SqlValue[] =>
  values.map((value) => (value instanceof List ? JSON.stringify(value.values) : value));

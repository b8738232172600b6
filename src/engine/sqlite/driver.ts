// SQLite behind the door: one writer connection used in turn, one reader that sees only what is committed.
import { openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import SQLite from 'better-sqlite3';

import { Refusal } from '#domain/refusal.ts';
import { List, type Database, type Queries, type Statement, type Value } from '../database.ts';
import { damagedRow, keepRowDigests } from './row-digests.ts';

export interface SqliteOptions {
  /** The loaded native module, where better-sqlite3 cannot find it by itself. */
  nativeBinding?: object | undefined;
  /** Told once when the disk failed under a write: nothing may be acknowledged from then on. */
  fatal?: (error: Error) => void;
  /** Asked for room when the disk is full; true when there is some now, and the transaction is worth a second try. */
  makeRoom?: () => Promise<boolean>;
  /** Told of a row that is not as it was last written, when somebody was about to build on it. */
  damaged?: (table: string, row: number) => void;
}

type Connection = SQLite.Database;
type Prepared = SQLite.Statement<Value[]>;

/**
 * Opens a database file. Every commit is on disk before it is reported: `synchronous` is FULL, and if SQLite
 * says otherwise this throws. Other processes may hold the same file open; each waits for the other's commit.
 */
export function openSqlite(file: string, options: SqliteOptions = {}): Database {
  const { writer, reader, commits } = connect(file, options);
  const reading = queries(reader, options.damaged);
  const writing = queries(writer, options.damaged);
  let turn: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function inTurn<Result>(work: (queries: Queries) => Promise<Result>, deadline: number): Promise<Result> {
    try {
      return await attempt(work, deadline).catch(async (error: unknown) => {
        if (isFull(error) && (await options.makeRoom?.()) === true) return attempt(work, deadline);
        throw error;
      });
    } catch (error) {
      throw isFull(error) ? diskFull(error) : error;
    }
  }

  async function attempt<Result>(work: (queries: Queries) => Promise<Result>, deadline: number): Promise<Result> {
    if (closed) throw new Error('cannot write: the database is closed');
    let open = true;
    await begin(writer, deadline);
    try {
      const result = await work(whileOpen(writing, () => open)).finally(() => (open = false));
      writer.exec('COMMIT');
      commits.again();
      return result;
    } catch (error) {
      if (writer.inTransaction) writer.exec('ROLLBACK');
      if (isDiskFailure(error) && !isFull(error)) options.fatal?.(error);
      throw error;
    }
  }

  return {
    get: reading.get,
    all: reading.all,
    isDamaged: reading.isDamaged,
    version: commits.count,
    transaction(work) {
      // Counted from here: those who wait for their turn must not wait one after the other for the same other process.
      const deadline = performance.now() + patience;
      const result = turn.then(() => inTurn(work, deadline));
      turn = result.catch(() => undefined);
      return result;
    },
    keepRowDigests() {
      keepRowDigests(writer);
    },
    async close() {
      await turn;
      if (closed) return;
      closed = true;
      reader.close();
      writer.close();
    },
  };
}

/** One connection that writes, and one that sees only what is committed. */
function connect(
  file: string,
  { nativeBinding }: SqliteOptions,
): { writer: Connection; reader: Connection; commits: ReturnType<typeof commitCounter> } {
  const opened: Connection[] = [];
  const open = (): Connection => {
    const connection = new SQLite(file, {
      timeout: patience,
      ...(nativeBinding && { nativeBinding: nativeBinding as unknown as string }),
    });
    opened.push(connection);
    configure(connection);
    return connection;
  };
  try {
    const writer = open();
    writer.pragma('busy_timeout = 0'); // SQLite's own waiting would hold up everything else; `begin` waits instead
    const reader = open();
    reader.pragma('query_only = ON');
    return { writer, reader, commits: commitCounter(file) };
  } catch (error) {
    for (const connection of opened) connection.close();
    throw error;
  }
}

/** How many milliseconds to wait for another process that writes. */
const patience = 5000;

/** Begins a transaction as soon as no other process is in one, and tries at least once. */
async function begin(writer: Connection, deadline: number): Promise<void> {
  for (let pause = 1; ; pause = Math.min(pause * 2, 20)) {
    try {
      writer.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      const busy = error instanceof SQLite.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!busy) throw error;
      if (performance.now() > deadline) {
        throw new Error(`cannot write: another process has held the database for ${patience / 1000} seconds`, {
          cause: error,
        });
      }
    }
    await sleep(pause);
  }
}

function configure(connection: Connection): void {
  connection.pragma('journal_mode = WAL');
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  connection.pragma('trusted_schema = OFF');
  connection.pragma('cell_size_check = ON');
  connection.pragma('journal_size_limit = 67108864');
  connection.pragma('cache_size = -16384');
  const synchronous = connection.pragma('synchronous', { simple: true });
  if (synchronous !== 2) throw new Error(`cannot promise durability: synchronous is ${String(synchronous)}, not FULL`);
}

/**
 * Tells commits apart by the header of the WAL index (SQLite's "WAL-mode file format", section 2.1): every commit of every
 * process changes it before it is reported. It costs 0.7 µs; asking SQLite the same thing (`PRAGMA data_version`) costs 1.9
 * (`npm run bench -- tricks`).
 * The file is never closed again: a close would let go of the locks that SQLite itself holds on it in this process.
 */
function commitCounter(file: string): { count: () => number; again: () => void } {
  const index = openSync(`${file}-shm`, 'r');
  const last = Buffer.alloc(headerSize);
  const current = Buffer.alloc(headerSize);
  let count = 0;
  let justRead = false;
  const again = (): void => {
    justRead = false;
  };
  return {
    count() {
      if (justRead) return count;
      readSync(index, current, 0, headerSize, 0);
      if (!current.equals(last)) {
        current.copy(last);
        count++;
      }
      // Read once for all that follows without waiting: whoever is served by then had asked before this was read.
      justRead = true;
      process.nextTick(again);
      return count;
    },
    again,
  };
}

const headerSize = 48;

/** Queries that end with their transaction: kept beyond it, they would write on their own, or into somebody else's. */
function whileOpen(within: Queries, isOpen: () => boolean): Queries {
  const ended = () => Promise.reject(new Error('cannot use a transaction that has ended'));
  return {
    get: (statement) => (isOpen() ? within.get(statement) : ended()),
    all: (statement) => (isOpen() ? within.all(statement) : ended()),
    run: (statement) => (isOpen() ? within.run(statement) : ended()),
    script: (text) => (isOpen() ? within.script(text) : ended()),
    isDamaged: (table, key) => (isOpen() ? within.isDamaged(table, key) : ended()),
  };
}

function queries(connection: Connection, damaged: SqliteOptions['damaged']): Queries {
  // A statement's text is one array for the life of the program, so the array itself is the key. Preparing it each time
  // would make 15 µs of a query of 3 (`npm run bench -- tricks`).
  const prepared = new Map<readonly string[], Prepared>();
  const prepare = (wanted: Statement): Prepared => {
    let statement = prepared.get(wanted.text);
    if (statement === undefined) {
      statement = connection.prepare<Value[]>(sqliteText(wanted));
      prepared.set(wanted.text, statement);
    }
    return statement;
  };

  return {
    get: async <Row>(statement: Statement) => prepare(statement).get(...sqliteValues(statement)) as Row | undefined,
    all: async <Row>(statement: Statement) => prepare(statement).all(...sqliteValues(statement)) as Row[],
    run: async (statement: Statement) => prepare(statement).run(...sqliteValues(statement)).changes,
    script: async (text: string) => void connection.exec(text),
    async isDamaged(table, key) {
      const row = damagedRow(connection, table, key);
      if (row !== undefined) damaged?.(table, row);
      return row !== undefined;
    },
  };
}

/**
 * A statement as SQLite reads it. `+?` is the same value as `?`: this SQLite was built to look into plain parameters when
 * it plans a join or a partial index, and then plans anew at every call: 9 µs for a query of 3 (`npm run bench -- tricks`).
 */
export const sqliteText = ({ text, values }: Statement): string =>
  text.reduce(
    (before, after, at) =>
      `${before}${values[at - 1] instanceof List ? '(SELECT value FROM json_each(+?))' : '+?'}${after}`,
  );

const sqliteValues = ({ values }: Statement): Value[] =>
  values.map((value) => (value instanceof List ? JSON.stringify(value.values) : value));

/** SQLite's words for a disk that is full; the second is about the index of its log, which grows beside it. */
const isFull = (error: unknown): boolean =>
  error instanceof SQLite.SqliteError && ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].includes(error.code);

/** Seconds after which trying again makes sense: an administrator has to make room first. */
const retryAfter = 300;

const diskFull = (cause: unknown): Refusal =>
  Object.assign(
    new Refusal(
      'insufficient-storage',
      'The disk of the store is full, so nothing was changed. Its administrator has to make room; try again later.',
      retryAfter,
    ),
    { cause },
  );

/** SQLite's words for a disk that did not take or keep what was written. */
const isDiskFailure = (error: unknown): error is Error =>
  error instanceof SQLite.SqliteError && (error.code.startsWith('SQLITE_IOERR') || error.code === 'SQLITE_CORRUPT');

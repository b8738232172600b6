// Classifies the errors of SQLite when the disk does not take a write, or the locks of this process are lost.
import SQLite from 'better-sqlite3';

/** Returns whether the disk is full. The second code is about the index of the write-ahead log, which grows as well. */
export const isFull = (error: unknown): boolean =>
  error instanceof SQLite.SqliteError && ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].includes(error.code);

/** Returns whether the disk did not take or keep a write. A full disk does not count: it works again when there is room. */
export const isDiskFailure = (error: unknown): error is Error =>
  error instanceof SQLite.SqliteError &&
  (error.code.startsWith('SQLITE_IOERR') || error.code === 'SQLITE_CORRUPT') &&
  !isFull(error);

/** The process has lost its locks on the database or the index of the log, so its connections can neither read nor write. */
export class DatabaseLost extends Error {
  /** The cause is in the words of SQLite, which name another reason. */
  readonly saysAll = true;

  constructor(file: string, cause: unknown) {
    super(`the locks on ${file}, or the index of its log, are lost; serve the store again`, { cause });
    this.name = 'DatabaseLost';
  }
}

/** The codes of a lost lock, also on the index of the log: there SQLite tries for ten seconds, and then reports a violated protocol. */
const lockLost = /^SQLITE_(?:PROTOCOL|IOERR_(?:RDLOCK|LOCK|UNLOCK|CHECKRESERVEDLOCK|SHMOPEN|SHMLOCK|SHMMAP))$/;

/**
 * Returns the loss behind an error of a connection, after which no connection of this process is of use. If only a temporary file could not
 * be opened, for want of descriptors, the database can be read, and nothing is lost.
 */
export function findLoss(error: unknown, connection: SQLite.Database): DatabaseLost | undefined {
  if (!(error instanceof SQLite.SqliteError)) return undefined;
  if (lockLost.test(error.code)) return new DatabaseLost(connection.name, error);
  if (error.code !== 'SQLITE_CANTOPEN') return undefined;
  try {
    connection.pragma('schema_version');
    return undefined;
  } catch {
    return new DatabaseLost(connection.name, error);
  }
}

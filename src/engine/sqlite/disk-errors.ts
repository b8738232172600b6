// Classifies the errors of SQLite when the disk does not take a write.
import SQLite from 'better-sqlite3';

/** Returns whether the disk is full. The second code is about the index of the write-ahead log, which grows as well. */
export const isFull = (error: unknown): boolean =>
  error instanceof SQLite.SqliteError && ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].includes(error.code);

/** Returns whether the disk did not take or keep a write. A full disk does not count: it works again when there is room. */
export const isDiskFailure = (error: unknown): error is Error =>
  error instanceof SQLite.SqliteError &&
  (error.code.startsWith('SQLITE_IOERR') || error.code === 'SQLITE_CORRUPT') &&
  !isFull(error);

// What SQLite says when the disk does not take what is written.
import SQLite from 'better-sqlite3';

/** SQLite's words for a disk that is full; the second is about the index of its log, which grows beside it. */
export const isFull = (error: unknown): boolean =>
  error instanceof SQLite.SqliteError && ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].includes(error.code);

/** Whether the disk did not take or keep what was written; one that is full takes more once there is room. */
export const isDiskFailure = (error: unknown): error is Error =>
  error instanceof SQLite.SqliteError &&
  (error.code.startsWith('SQLITE_IOERR') || error.code === 'SQLITE_CORRUPT') &&
  !isFull(error);

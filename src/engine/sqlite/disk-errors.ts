// What SQLite says when the disk does not take what is written, and what a person is told of it.
import SQLite from 'better-sqlite3';

import { Refusal } from '#domain/refusal.ts';

/** SQLite's words for a disk that is full; the second is about the index of its log, which grows beside it. */
export const isFull = (error: unknown): boolean =>
  error instanceof SQLite.SqliteError && ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].includes(error.code);

/** Whether the disk did not take or keep what was written; one that is full takes more once there is room. */
export const isDiskFailure = (error: unknown): error is Error =>
  error instanceof SQLite.SqliteError &&
  (error.code.startsWith('SQLITE_IOERR') || error.code === 'SQLITE_CORRUPT') &&
  !isFull(error);

/** Seconds after which trying again makes sense: an administrator has to make room first. */
const retryAfter = 300;

export const diskFull = (cause: unknown): Refusal =>
  Object.assign(
    new Refusal(
      'insufficient-storage',
      'The disk of the store is full, so nothing was changed. Its administrator has to make room; try again later.',
      retryAfter,
    ),
    { cause },
  );

// One process owns a data directory: it holds a lock that the operating system lets go of when the process dies.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import SQLite from 'better-sqlite3';

import { nativeBinding } from '#src/native.ts';
import { removeState } from './state-file.ts';

/** Holds the data directory until `close`; the operating system lets go of it when the process dies. */
export function lockDirectory(directory: string, name = 'store.lock'): { close(): unknown } {
  const file = join(directory, name);
  const binding = nativeBinding();
  const lock = new SQLite(file, { timeout: 0, ...(binding && { nativeBinding: binding as unknown as string }) });
  try {
    // Without a journal beside it, for which a full disk has no room.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof SQLite.SqliteError && error.code === 'SQLITE_BUSY') throw new DataDirectoryInUse(directory);
    throw error;
  }
}

/** For how many milliseconds whoever serves waits for a command, and how often he looks. */
const patience = { most: 1000, pause: 50 };

/**
 * The same for whoever serves from then on. A command that looks whether somebody does, or brings the data up to date, holds the
 * directory for a moment, and that is no reason not to serve.
 */
export async function lockToServe(directory: string): Promise<{ close(): unknown }> {
  for (const deadline = performance.now() + patience.most; ;) {
    try {
      const lock = lockDirectory(directory);
      // What one that died has said is so no more.
      removeState(directory);
      return lock;
    } catch (error) {
      if (!(error instanceof DataDirectoryInUse) || performance.now() > deadline) throw error;
      await sleep(patience.pause);
    }
  }
}

/** Lets one backup of a data directory be made at a time, whoever serves it. */
export const lockBackups = (directory: string): { close(): unknown } => lockDirectory(directory, 'store.lock.backup');

/** Another process serves this data directory already. */
export class DataDirectoryInUse extends Error {
  constructor(directory: string) {
    super(`The data directory ${directory} is in use: another larder serves it.`);
    this.name = 'DataDirectoryInUse';
  }
}

// Lets one process own a data directory, by a lock that the operating system releases when the process dies.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import SQLite from 'better-sqlite3';

import { nativeBinding } from '#platform/native.ts';
import { removeState } from './state-file.ts';

/** The name of the lock in a data directory. */
export const lockFile = 'store.lock';

/** Locks the data directory until `close`, or until the process dies. Throws DataDirectoryInUse. */
export function lockDirectory(directory: string, name = lockFile): { close(): unknown } {
  const file = join(directory, name);
  const binding = nativeBinding();
  const lock = new SQLite(file, { timeout: 0, ...(binding && { nativeBinding: binding as unknown as string }) });
  try {
    // Keeps the journal in memory: a full disk has no room for a file.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof SQLite.SqliteError && error.code === 'SQLITE_BUSY') throw new DataDirectoryInUse(directory);
    throw error;
  }
}

/** Milliseconds for which a starting server waits for a command that holds the lock, and between two attempts. */
const lockWaitMs = { max: 1000, pause: 50 };

/**
 * Locks the data directory for a server. Waits up to a second for the lock, because a command that checks for a server or upgrades the data
 * holds it only briefly. Throws DataDirectoryInUse.
 */
export async function lockToServe(directory: string): Promise<{ close(): unknown }> {
  const lock = await lockBefore(performance.now() + lockWaitMs.max, directory);
  // The state file of a process that died is out of date.
  removeState(directory);
  return lock;
}

async function lockBefore(end: number, directory: string, name?: string): Promise<{ close(): unknown }> {
  for (;;) {
    try {
      return lockDirectory(directory, name);
    } catch (error) {
      if (!(error instanceof DataDirectoryInUse) || performance.now() > end) throw error;
      await sleep(lockWaitMs.pause);
    }
  }
}

/**
 * Lets one process of this host try the PIN of the key manager at a time. Waits until `end` in milliseconds of `performance.now()`; returns
 * undefined if it is too late.
 */
export const lockPin =
  (directory: string) =>
  async (end: number): Promise<{ close(): unknown } | undefined> => {
    try {
      return await lockBefore(end, directory, 'store.lock.pin');
    } catch (error) {
      if (error instanceof DataDirectoryInUse) return undefined;
      throw error;
    }
  };

/** Allows one backup of a data directory at a time, also if several processes serve it. */
export const lockBackups = (directory: string): { close(): unknown } => lockDirectory(directory, 'store.lock.backup');

/** Another process already serves this data directory. */
export class DataDirectoryInUse extends Error {
  constructor(directory: string) {
    super(`The data directory ${directory} is in use: another larder serves it.`);
    this.name = 'DataDirectoryInUse';
  }
}

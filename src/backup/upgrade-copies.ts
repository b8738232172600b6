// Copies the database before an upgrade changes it, so that the store can be rolled back to the older release. Migrations change neither
// blobs, which are named by their digest, nor keys: a rollback needs only the database and the configuration.
import { copyFileSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { copyDatabase, checkpointLog, type SqliteFileOptions } from '#engine/sqlite/check.ts';
import { makeFolder, onDisk, syncPath, type Disk } from '#files/durable.ts';
import { listNames } from '#files/read.ts';

/** Folder below the data directory: `0022-invoices.db` is the database before that migration, `0022-invoices.toml` its configuration. */
export const upgradesFolder = 'before-upgrade';

/** Number of copies that are kept; each is as large as the database was. */
const maxCopies = 3;

/** Bytes that must stay free next to a copy, for the migration itself. */
const margin = 64 * 1024 * 1024;

interface DiskOptions extends SqliteFileOptions {
  /** The functions of the disk, replaced by tests that check the order of durable writes. */
  disk?: Disk;
}

export interface UpgradeOptions extends DiskOptions {
  /** The data directory. No other process may serve it during the copy. */
  directory: string;
  /** The first migration that the upgrade will run. */
  migration: string;
}

/**
 * Copies the database and the configuration, and returns the file of the copy. The copy gets its name when it is complete and durable, and
 * replaces the copy of an earlier attempt at the same upgrade.
 */
export async function copyBeforeUpgrade(options: UpgradeOptions): Promise<string> {
  const { directory, migration, disk = onDisk } = options;
  const folder = join(directory, upgradesFolder);
  const place = join(folder, migration);
  makeFolder(folder, disk);
  // Remove the files of a killed attempt, with the journal of SQLite.
  for (const name of readdirSync(folder)) if (name.includes('.partial')) rmSync(join(folder, name));
  try {
    await copyDurably(join(directory, 'larder.db'), `${place}.db.partial`, options);
    copyFileSync(join(directory, 'larder.toml'), `${place}.toml.partial`);
    syncPath(`${place}.toml.partial`, disk);
    for (const end of ['.toml', '.db']) disk.renameSync(`${place}${end}.partial`, `${place}${end}`);
    syncPath(folder, disk);
  } catch (cause) {
    for (const end of ['.toml', '.db']) rmSync(`${place}${end}.partial`, { force: true });
    throw new Error('cannot keep a copy of the database before the upgrade; nothing was changed', { cause });
  }
  for (const old of listUpgradeCopies(directory).slice(maxCopies)) {
    for (const end of ['.db', '.toml']) rmSync(old.replace(/\.db$/, end), { force: true });
  }
  return `${place}.db`;
}

/** Returns the copies, newest first. */
export function listUpgradeCopies(directory: string): string[] {
  const folder = join(directory, upgradesFolder);
  return listNames(folder)
    .filter((name) => /^\d{4}-[a-z-]+\.db$/.test(name))
    .sort()
    .reverse()
    .map((name) => join(folder, name));
}

export interface RollbackOptions extends DiskOptions {
  /** Changes the restored database before it is put into place, so that its changes count from the first moment. */
  finish: (database: string) => Promise<void>;
}

/**
 * Replaces the database with a copy, and moves the old database to `aside`. The exchange is one rename, so the data directory always has
 * one complete database.
 */
export async function rollBackDatabase(
  directory: string,
  copy: string,
  aside: string,
  options: RollbackOptions,
): Promise<void> {
  const { disk = onDisk } = options;
  const database = join(directory, 'larder.db');
  const fresh = `${database}.back`;
  for (const ending of ['', '-journal', '-wal', '-shm']) rmSync(`${fresh}${ending}`, { force: true });
  await copyDurably(copy, fresh, options);
  await options.finish(fresh);
  checkpointLog(fresh, options);
  syncPath(fresh, disk);
  // The write-ahead log belongs to the old database; the new one must not find it.
  checkpointLog(database, options);
  disk.linkSync(database, aside);
  syncPath(dirname(aside), disk);
  disk.renameSync(fresh, database);
  syncPath(directory, disk);
}

async function copyDurably(file: string, to: string, options: DiskOptions): Promise<void> {
  requireRoom(file);
  writeFileSync(to, '', { mode: 0o600, flag: 'wx' });
  await copyDatabase(file, to, options);
  syncPath(to, options.disk);
}

function requireRoom(file: string): void {
  const { bavail, bsize } = statfsSync(dirname(file));
  const [free, needed] = [bavail * bsize, statSync(file).size + margin];
  if (free >= needed) return;
  const inMiB = (bytes: number): string => `${String(Math.ceil(bytes / 1024 / 1024))} MiB`;
  throw new Error(`a copy of the database needs ${inMiB(needed)}, and ${inMiB(free)} are free: make room on the disk`);
}

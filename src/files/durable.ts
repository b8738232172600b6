// Small files that must survive a power cut intact: keys, credentials, the configuration. Only this folder and blobs/
// request durability from the system.
import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { randomBytes } from '#domain/cryptography.ts';

/** The file operations used; a parameter, so that tests can check when data is durable. */
export type Disk = Pick<
  typeof fs,
  | 'chmodSync'
  | 'closeSync'
  | 'fchmodSync'
  | 'fdatasyncSync'
  | 'fsync'
  | 'fsyncSync'
  | 'linkSync'
  | 'mkdirSync'
  | 'openSync'
  | 'renameSync'
  | 'rmSync'
  | 'writeFileSync'
>;

export const onDisk: Disk = fs;

/** Writes a new file; throws EEXIST if it exists. */
export function createFile(file: string, content: string | Uint8Array, mode: number, disk: Disk = onDisk): void {
  writeNew(disk, file, content, mode);
  syncPath(dirname(file), disk);
}

/** A file written under a temporary name, to be put in place or discarded. */
export interface PreparedFile {
  /** Puts it in place atomically: readers see either the old content or the new one. */
  place(): void;
  discard(): void;
}

const temporaryNameOf = (file: string): string =>
  join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}`);

export function prepareFile(
  file: string,
  content: string | Uint8Array,
  mode: number,
  disk: Disk = onDisk,
): PreparedFile {
  const fresh = temporaryNameOf(file);
  writeNew(disk, fresh, content, mode);
  const discard = () => {
    disk.rmSync(fresh, { force: true });
  };
  return {
    discard,
    place() {
      try {
        renameFile(fresh, file, disk);
      } catch (error) {
        discard();
        throw error;
      }
    },
  };
}

/**
 * Replaces a file atomically and durably, without blocking the process during the two syncs, which take milliseconds. The other steps take
 * microseconds.
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  mode: number,
  disk: Disk = onDisk,
): Promise<void> {
  const sync = promisify(disk.fsync);
  const fresh = temporaryNameOf(file);
  const handle = disk.openSync(fresh, 'wx', mode);
  try {
    try {
      disk.fchmodSync(handle, mode);
      disk.writeFileSync(handle, content);
      await sync(handle);
    } finally {
      disk.closeSync(handle);
    }
    disk.renameSync(fresh, file);
  } catch (error) {
    disk.rmSync(fresh, { force: true });
    throw error;
  }
  const folder = disk.openSync(dirname(file), 'r');
  try {
    await sync(folder);
  } finally {
    disk.closeSync(folder);
  }
}

/** Renames a file within its folder and replaces an existing file of that name. */
export function renameFile(from: string, to: string, disk: Disk = onDisk): void {
  disk.renameSync(from, to);
  syncPath(dirname(to), disk);
}

/** Makes a folder and its missing parents. Only the owner has access, also if the folder existed before. */
export function makeFolder(folder: string, disk: Disk = onDisk): void {
  const first = disk.mkdirSync(folder, { recursive: true, mode: 0o700 });
  disk.chmodSync(folder, 0o700);
  // Each new folder is an entry of its parent, which must be synced too.
  for (let made = folder; first !== undefined && made.length >= first.length; made = dirname(made)) {
    syncPath(dirname(made), disk);
  }
}

function writeNew(disk: Disk, file: string, content: string | Uint8Array, mode: number): void {
  const handle = disk.openSync(file, 'wx', mode);
  try {
    // The umask of the process restricts the mode given to `open`.
    disk.fchmodSync(handle, mode);
    disk.writeFileSync(handle, content);
    disk.fsyncSync(handle);
  } catch (error) {
    disk.rmSync(file, { force: true });
    throw error;
  } finally {
    disk.closeSync(handle);
  }
}

/** Makes the content of a file, or the entries of a folder, durable. */
export function syncPath(path: string, disk: Disk = onDisk): void {
  const handle = disk.openSync(path, 'r');
  try {
    disk.fsyncSync(handle);
  } finally {
    disk.closeSync(handle);
  }
}

/** Syncs a file at intervals while another component writes it. */
export interface PeriodicSync {
  now(): void;
  /** Call it after the writer has closed the file, because closing releases all locks that this process holds on it. */
  close(): void;
}

/** Opens the file at the first sync. */
export function createPeriodicSync(file: string, disk: Disk = onDisk): PeriodicSync {
  let handle: number | undefined;
  return {
    now() {
      handle ??= disk.openSync(file, 'r+');
      disk.fdatasyncSync(handle);
    },
    close() {
      if (handle !== undefined) disk.closeSync(handle);
    },
  };
}

/** The name of the file that a temporary file of this module becomes; undefined for other names. A kill leaves temporary files behind. */
export const targetOfTemporary = (name: string): string | undefined => /^\.(.+)\.[0-9a-f]{12}$/.exec(name)?.[1];

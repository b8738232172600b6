// Small files that must be there, whole, after a power cut: keys, credentials, the configuration.
// Nothing else in the store but this folder and blobs/ asks the system for durability.
import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { randomBytes } from 'node:crypto';

/** What this does to the disk: handed in, so that a test can watch what is durable when. */
export type Disk = Pick<
  typeof fs,
  | 'chmodSync'
  | 'closeSync'
  | 'fchmodSync'
  | 'fdatasyncSync'
  | 'fsyncSync'
  | 'linkSync'
  | 'mkdirSync'
  | 'openSync'
  | 'renameSync'
  | 'rmSync'
  | 'writeFileSync'
>;

export const onDisk: Disk = fs;

/** Writes a file that is not there yet; throws EEXIST when it is. */
export function createFile(file: string, content: string | Uint8Array, mode: number, disk: Disk = onDisk): void {
  writeNew(disk, file, content, mode);
  syncPath(dirname(file), disk);
}

/** A file that is written, under another name until it is put in its place, or thrown away. */
export interface PreparedFile {
  /** Puts it in its place, all at once: whoever opens the file sees the old content or the new one. */
  place(): void;
  discard(): void;
}

export function prepareFile(
  file: string,
  content: string | Uint8Array,
  mode: number,
  disk: Disk = onDisk,
): PreparedFile {
  const fresh = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}`);
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

/** Gives a file another name in its folder; what had that name is gone. */
export function renameFile(from: string, to: string, disk: Disk = onDisk): void {
  disk.renameSync(from, to);
  syncPath(dirname(to), disk);
}

/** Makes a folder, with those above it that are missing; nobody else may look into it, also when it was there before. */
export function makeFolder(folder: string, disk: Disk = onDisk): void {
  const first = disk.mkdirSync(folder, { recursive: true, mode: 0o700 });
  disk.chmodSync(folder, 0o700);
  // Each new folder is an entry of the one above it.
  for (let made = folder; first !== undefined && made.length >= first.length; made = dirname(made)) {
    syncPath(dirname(made), disk);
  }
}

function writeNew(disk: Disk, file: string, content: string | Uint8Array, mode: number): void {
  const handle = disk.openSync(file, 'wx', mode);
  try {
    // The mode given to open is narrowed by the umask of the process.
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

/** Makes durable what was written to a file, or which entries a folder has. */
export function syncPath(path: string, disk: Disk = onDisk): void {
  const handle = disk.openSync(path, 'r');
  try {
    disk.fsyncSync(handle);
  } finally {
    disk.closeSync(handle);
  }
}

/** A file that somebody else writes, and of which what is written is sent on to the disk from time to time. */
export interface SentOn {
  now(): void;
  /** Call it when the other has closed the file: the close lets go of the locks that this process holds on it. */
  close(): void;
}

/** Opens the file when it is first sent on. */
export function sendOn(file: string, disk: Disk = onDisk): SentOn {
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

// Small files that must be there, whole, after a power cut: keys, credentials, the configuration.
import {
  chmodSync,
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { randomBytes } from 'node:crypto';

/** Writes a file that is not there yet; throws EEXIST when it is. */
export function createFile(file: string, content: string | Uint8Array, mode: number): void {
  writeNew(file, content, mode);
  syncFolder(dirname(file));
}

/** A file that is written, under another name until it is put in its place, or thrown away. */
export interface PreparedFile {
  /** Puts it in its place, all at once: whoever opens the file sees the old content or the new one. */
  place(): void;
  discard(): void;
}

export function prepareFile(file: string, content: string | Uint8Array, mode: number): PreparedFile {
  const fresh = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}`);
  writeNew(fresh, content, mode);
  const discard = () => {
    rmSync(fresh, { force: true });
  };
  return {
    discard,
    place() {
      try {
        renameFile(fresh, file);
      } catch (error) {
        discard();
        throw error;
      }
    },
  };
}

/** Gives a file another name in its folder; what had that name is gone. */
export function renameFile(from: string, to: string): void {
  renameSync(from, to);
  syncFolder(dirname(to));
}

/** Makes a folder, with those above it that are missing; nobody else may look into it, also when it was there before. */
export function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  // Each new folder is an entry of the one above it.
  for (let made = folder; first !== undefined && made.length >= first.length; made = dirname(made)) {
    syncFolder(dirname(made));
  }
}

function writeNew(file: string, content: string | Uint8Array, mode: number): void {
  const handle = openSync(file, 'wx', mode);
  try {
    // The mode given to open is narrowed by the umask of the process.
    fchmodSync(handle, mode);
    writeFileSync(handle, content);
    fsyncSync(handle);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

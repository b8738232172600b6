// Small files that must be there, whole, after a power cut: keys, credentials, the configuration.
import { closeSync, fchmodSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { randomBytes } from 'node:crypto';

/** Writes a file that is not there yet; throws EEXIST when it is. */
export function createFile(file: string, content: string | Uint8Array, mode: number): void {
  writeNew(file, content, mode);
  syncFolder(dirname(file));
}

/** Puts a new content in the place of a file's old one, all at once: whoever opens it sees either. */
export function replaceFile(file: string, content: string | Uint8Array, mode: number): void {
  // Where the name is a symbolic link, as from a data directory to /etc, the link stays and its target is replaced.
  const target = realpathSync(file);
  const fresh = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}`);
  writeNew(fresh, content, mode);
  try {
    renameSync(fresh, target);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
  syncFolder(dirname(target));
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

// What backing up and restoring do to the disk: handed in, so that a test can watch what is durable when.
import * as disk from 'node:fs/promises';

export type Files = Pick<typeof disk, 'mkdir' | 'open' | 'readdir' | 'rename' | 'rm' | 'rmdir'>;

export const onDisk: Files = disk;

/** Makes the entries of a folder durable, where the file system does that on demand. */
export async function syncFolder(files: Files, path: string): Promise<void> {
  const handle = await files.open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Some file systems of sticks and of the network have no such thing.
    if (!['EINVAL', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    await handle.close();
  }
}

/** Writes a small file that is not there yet, durably; its folder is still to be synced. */
export async function writeWhole(files: Files, path: string, text: string, mode: number): Promise<void> {
  const handle = await files.open(path, 'wx', mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

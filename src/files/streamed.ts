// Files of any size that are written piece by piece and must be there after a power cut: backups, and what is restored.
import * as disk from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** What this does to the disk: handed in, so that a test can watch what is durable when. */
export type Files = Pick<typeof disk, 'mkdir' | 'open' | 'readdir' | 'rename' | 'rm' | 'rmdir'>;

export const onDisk: Files = disk;

/** Makes the entries of a folder durable, where the file system does that on demand. */
export async function syncFolder(path: string, files: Files = onDisk): Promise<void> {
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

/** A file that is written from its beginning to its end. */
export interface Appending {
  /** Bytes so far. */
  readonly end: number;
  append(bytes: Uint8Array): Promise<void>;
  /** Takes everything after this length back. */
  cut(length: number): Promise<void>;
  /** Makes all of it durable. */
  finish(): Promise<void>;
}

/**
 * How much is written before it is sent on to the disk. A commit of the serving store waits for the file system's journal,
 * and with it for whatever lies unwritten in other files: so little of that is left lying that nobody notices.
 */
const slice = 4 * 1024 * 1024;

/** Writes to an empty file; `sendOn` sends what was written on to the disk meanwhile. */
export function appending(handle: FileHandle, { sendOn = false } = {}): Appending {
  let end = 0;
  let unsynced = 0;
  return {
    get end() {
      return end;
    },
    async append(bytes) {
      // A disk that is nearly full takes a part; asked for the rest it says why.
      for (let at = 0; at < bytes.length;) {
        at += (await handle.write(bytes, at, bytes.length - at, end + at)).bytesWritten;
      }
      end += bytes.length;
      unsynced += bytes.length;
      if (!sendOn || unsynced < slice) return;
      unsynced = 0;
      await handle.datasync();
    },
    async cut(length) {
      await handle.truncate(length);
      end = length;
    },
    finish: () => handle.sync(),
  };
}

/** Writes a file that is not there yet, durably; its folder is still to be synced, and what was begun stays on a failure. */
export async function writeWhole(
  path: string,
  content: string | AsyncIterable<Uint8Array>,
  mode: number,
  files: Files = onDisk,
): Promise<void> {
  const handle = await files.open(path, 'wx', mode);
  try {
    const file = appending(handle);
    if (typeof content === 'string') await file.append(Buffer.from(content));
    else for await (const bytes of content) await file.append(bytes);
    await file.finish();
  } finally {
    await handle.close();
  }
}

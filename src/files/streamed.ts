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

const chunk = 1024 * 1024;

/**
 * Reads files one after the other, all of them into the same two buffers: what was given is good until the next but one is
 * asked for. A buffer for each chunk waits for the garbage collector, a hundred MiB of them at times (`npm run bench -- transfers`).
 */
export class ChunkReader {
  /** The one that was given before the last one, and that one. */
  #buffers: [Buffer, Buffer] | undefined;

  /** The bytes of a file from `offset` on, `size` of them or as many as there are. */
  async *read(file: string, offset: number, size: number, files: Pick<Files, 'open'> = onDisk): AsyncGenerator<Buffer> {
    const handle = await files.open(file, 'r');
    try {
      for (let at = 0; at < size;) {
        const [into, last] = (this.#buffers ??= [Buffer.allocUnsafeSlow(chunk), Buffer.allocUnsafeSlow(chunk)]);
        const { bytesRead } = await handle.read(into, 0, Math.min(chunk, size - at), offset + at);
        if (bytesRead === 0) return;
        this.#buffers = [last, into];
        yield into.subarray(0, bytesRead);
        at += bytesRead;
      }
    } finally {
      await handle.close();
    }
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

/**
 * Writes a file that is not there yet, durably; its folder is still to be synced, and what was begun stays on a failure.
 *
 * @param content what it holds, or what writes that
 */
export async function writeWhole(
  path: string,
  content: string | AsyncIterable<Uint8Array> | ((file: FileHandle) => Promise<void>),
  mode: number,
  files: Files = onDisk,
): Promise<void> {
  const handle = await files.open(path, 'wx', mode);
  try {
    const file = appending(handle);
    if (typeof content === 'function') await content(handle);
    else if (typeof content === 'string') await file.append(Buffer.from(content));
    else for await (const bytes of content) await file.append(bytes);
    await file.finish();
  } finally {
    await handle.close();
  }
}

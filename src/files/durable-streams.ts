// Writes files of any size in pieces and makes them durable: backups and restored data.
import * as disk from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** The file operations used; a parameter, so that tests can check when data is durable. */
export type Files = Pick<typeof disk, 'mkdir' | 'open' | 'readdir' | 'rename' | 'rm' | 'rmdir'>;

export const onDisk: Files = disk;

/** Makes the entries of a folder durable, if the file system supports it. */
export async function syncFolder(path: string, files: Files = onDisk): Promise<void> {
  const handle = await files.open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Some file systems of sticks and networks do not support this.
    if (!['EINVAL', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    await handle.close();
  }
}

const chunk = 1024 * 1024;

/**
 * Reads files one after another into the same two buffers: a chunk is valid until the next but one is read. New buffers
 * for each chunk would occupy up to a hundred MiB until garbage collection (`npm run bench -- transfers`).
 */
export class ChunkReader {
  /** The buffer of the chunk before the last one, and that of the last one. */
  #buffers: [Buffer, Buffer] | undefined;

  /** Reads up to `size` bytes of a file from `offset` on. */
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

/** A file that is written from beginning to end. */
export interface AppendOnlyFile {
  /** The number of bytes so far. */
  readonly end: number;
  append(bytes: Uint8Array): Promise<void>;
  /** Removes everything after this length. */
  cut(length: number): Promise<void>;
  /** Makes the whole file durable. */
  finish(): Promise<void>;
}

/**
 * The number of bytes after which written data is synced. A commit of the serving store waits for the file system's
 * journal and so for unwritten data of other files; a small amount causes no noticeable delay.
 */
const slice = 4 * 1024 * 1024;

/** Writes to an empty file. With `sendOn`, syncs the data to the disk at intervals. */
export function toAppendOnlyFile(handle: FileHandle, { sendOn = false } = {}): AppendOnlyFile {
  let end = 0;
  let unsynced = 0;
  return {
    get end() {
      return end;
    },
    async append(bytes) {
      // A nearly full disk accepts a part; writing the rest then fails with the reason.
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
 * Writes a new file and makes it durable. The caller must sync its folder. A partial file stays on a failure.
 *
 * @param content the content, or a function that writes it
 */
export async function createDurableFile(
  path: string,
  content: string | AsyncIterable<Uint8Array> | ((file: FileHandle) => Promise<void>),
  mode: number,
  files: Files = onDisk,
): Promise<void> {
  const handle = await files.open(path, 'wx', mode);
  try {
    const file = toAppendOnlyFile(handle);
    if (typeof content === 'function') await content(handle);
    else if (typeof content === 'string') await file.append(Buffer.from(content));
    else for await (const bytes of content) await file.append(bytes);
    await file.finish();
  } finally {
    await handle.close();
  }
}

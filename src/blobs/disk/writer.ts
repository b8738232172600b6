// Writes received bytes to a file in few, large pieces: one piece is written while the next is collected.
import type { FileHandle } from 'node:fs/promises';

import type { Chunks } from '../blobs.ts';

const chunksInBatch = 256;
/** Bytes between two syncs, so that the final fsync has little left to do. */
const syncStride = 128 * 1024 * 1024;

/** Syncs at intervals, and waits for a sync only when the next one is due. */
export function createStrideSync(sync: () => Promise<void>, begin = 0) {
  let synced = begin;
  let syncing: Promise<void> = Promise.resolve();
  return {
    async wrote(size: number): Promise<void> {
      if (size - synced < syncStride) return;
      synced = size;
      await syncing;
      syncing = sync();
      syncing.catch(() => undefined);
    },
    /** Resolves when no sync is running. */
    end: (): Promise<void> => syncing,
    async idle(): Promise<void> {
      await Promise.allSettled([syncing]);
    },
  };
}

/** Collects chunks into batches and writes one batch while the next is collected. */
export function createFileWriter(
  file: FileHandle,
  options: {
    /** The number of bytes that the file already has. */
    begin: number;
    batch: () => number;
    wrote: (size: number) => Promise<void>;
    sync: () => Promise<void>;
    ownsChunks: boolean;
  },
) {
  let chunks: Uint8Array[] = [];
  let length = 0;
  let size = options.begin;
  let written = options.begin;
  let writing: Promise<void> = Promise.resolve();
  const syncing = createStrideSync(options.sync, options.begin);

  async function writeBatch(gathered: Uint8Array[], bytes: number): Promise<void> {
    await writeWhole(file, gathered, bytes, written);
    if (options.ownsChunks) for (const chunk of gathered) release(chunk);
    written += bytes;
    await options.wrote(written);
    await syncing.wrote(written);
  }

  async function flush(): Promise<void> {
    await writing;
    writing = writeBatch(chunks, length);
    // The next write, or the end, gets the failure; until then it must not count as an unhandled rejection.
    writing.catch(() => undefined);
    chunks = [];
    length = 0;
  }

  return {
    get size() {
      return size;
    },
    async write(more: Chunks): Promise<void> {
      for (const chunk of more) {
        chunks.push(chunk);
        length += chunk.length;
        size += chunk.length;
      }
      if (length >= options.batch() || chunks.length >= chunksInBatch) await flush();
    },
    /** Resolves when all bytes are in the file, durable or not. */
    async written(): Promise<void> {
      if (length > 0) await flush();
      await writing;
    },
    async end(): Promise<void> {
      await this.written();
      await syncing.end();
    },
    /** Waits until no operation uses the file, whether it succeeded or not. */
    async idle(): Promise<void> {
      await Promise.allSettled([writing, syncing.idle()]);
    },
  };
}

/**
 * Free the memory at once: left to the garbage collector, the memory of a large upload would cause repeated collections
 * of the whole heap.
 */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Writes chunks of `length` bytes in total at a position of a file. */
export async function writeWhole(
  file: FileHandle,
  chunks: Uint8Array[],
  length: number,
  position: number,
): Promise<void> {
  let { bytesWritten } = await file.writev(chunks, position);
  if (bytesWritten === length) return;
  // A disk that is nearly full writes a part of the bytes; the next write gives the reason.
  const whole = Buffer.concat(chunks);
  while (bytesWritten < length) {
    const rest = await file.write(whole, bytesWritten, length - bytesWritten, position + bytesWritten);
    bytesWritten += rest.bytesWritten;
  }
}

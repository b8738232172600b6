// Writes what arrives to a file: in few, large pieces, one on its way to the disk while the next is gathered.
import type { FileHandle } from 'node:fs/promises';

import type { Chunks } from '../blobs.ts';

const chunksInBatch = 256;
/** Bytes after which what was written is sent on to the disk, so that the last fsync finds little left to do. */
const syncStride = 128 * 1024 * 1024;

/** Sends what is written on to the disk every now and then, without waiting for it until the next time. */
export function syncedOnTheWay(sync: () => Promise<void>, begin = 0) {
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
    /** Resolves when nothing is on its way any more. */
    end: (): Promise<void> => syncing,
    async idle(): Promise<void> {
      await Promise.allSettled([syncing]);
    },
  };
}

/** Gathers chunks into batches and writes one batch while the next is gathered. */
export function fileWriter(
  file: FileHandle,
  by: {
    /** How many bytes the file has already. */
    begin: number;
    batch: () => number;
    wrote: (size: number) => Promise<void>;
    sync: () => Promise<void>;
    ownsChunks: boolean;
  },
) {
  let chunks: Uint8Array[] = [];
  let length = 0;
  let size = by.begin;
  let written = by.begin;
  let writing: Promise<void> = Promise.resolve();
  const syncing = syncedOnTheWay(by.sync, by.begin);

  async function writeBatch(gathered: Uint8Array[], bytes: number): Promise<void> {
    await writeWhole(file, gathered, bytes, written);
    if (by.ownsChunks) for (const chunk of gathered) release(chunk);
    written += bytes;
    await by.wrote(written);
    await syncing.wrote(written);
  }

  async function flush(): Promise<void> {
    await writing;
    writing = writeBatch(chunks, length);
    // Whoever writes next, or ends, hears of a failure; before that it must not count as unhandled.
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
      if (length >= by.batch() || chunks.length >= chunksInBatch) await flush();
    },
    /** Resolves when all of it is in the file, durable or not. */
    async written(): Promise<void> {
      if (length > 0) await flush();
      await writing;
    },
    async end(): Promise<void> {
      await this.written();
      await syncing.end();
    },
    /** Waits until nothing touches the file any more, well or not. */
    async idle(): Promise<void> {
      await Promise.allSettled([writing, syncing.idle()]);
    },
  };
}

/** Left to the garbage collector, the memory of a large upload would make it look through the whole store's again and again. */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Writes chunks of so many bytes together at a place in a file. */
export async function writeWhole(
  file: FileHandle,
  chunks: Uint8Array[],
  length: number,
  position: number,
): Promise<void> {
  let { bytesWritten } = await file.writev(chunks, position);
  if (bytesWritten === length) return;
  // A disk that is nearly full takes a part; asked for the rest it says why.
  const whole = Buffer.concat(chunks);
  while (bytesWritten < length) {
    const rest = await file.write(whole, bytesWritten, length - bytesWritten, position + bytesWritten);
    bytesWritten += rest.bytesWritten;
  }
}

// Writes what arrives to a file: in few, large pieces, one on its way to the disk while the next is gathered.
import type { FileHandle } from 'node:fs/promises';

import type { Chunks } from '../blobs.ts';

const chunksInBatch = 256;
/** Bytes after which what was written is sent on to the disk, so that the last fsync finds little left to do. */
const syncStride = 128 * 1024 * 1024;

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
  let synced = by.begin;
  let writing: Promise<void> = Promise.resolve();
  let syncing: Promise<void> = Promise.resolve();

  async function writeBatch(gathered: Uint8Array[], bytes: number): Promise<void> {
    await writeWhole(file, gathered, bytes, written);
    if (by.ownsChunks) for (const chunk of gathered) release(chunk);
    written += bytes;
    await by.wrote(written);
    if (written - synced < syncStride) return;
    synced = written;
    await syncing;
    syncing = by.sync();
    syncing.catch(() => undefined);
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
      await syncing;
    },
    /** Waits until nothing touches the file any more, well or not. */
    async idle(): Promise<void> {
      await Promise.allSettled([writing, syncing]);
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

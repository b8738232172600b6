// A backup is a plain tar archive: any tar of the last thirty years can look into one when larder is not at hand. What is
// needed of the format is little: regular files, written in order, found again by their headers.
import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';

import { appending } from '#files/streamed.ts';
import { BadHeader, block, padding, readHeader, tarHeader } from '#files/tar-header.ts';

const chunk = 1024 * 1024;
export interface TarWriter {
  /**
   * Adds a file of this size, read from `source`; its SHA-256, and its SHA3-384 when that is asked for. When it cannot be
   * read to its end (CannotReadSource) the archive is as it was before.
   */
  add(name: string, size: number, source: AsyncIterable<Uint8Array>, options?: { sha3?: boolean }): Promise<Written>;
  /** Takes the file that was added last out again. */
  takeBack(): Promise<void>;
  /** Writes the end of the archive, and makes all of it durable; the SHA-256 of the whole file. */
  finish(): Promise<string>;
}

export interface Written {
  size: number;
  sha256: string;
  sha3_384: string | undefined;
}

/** What was to be added could not be read as a whole; nothing is wrong with the archive. */
export class CannotReadSource extends Error {
  constructor(name: string, why: string, cause?: unknown) {
    super(`cannot back up ${name}: ${why}`, cause === undefined ? undefined : { cause });
    this.name = 'CannotReadSource';
  }
}

/** Begins an archive in an empty file; once `signal` is aborted it takes in no more, and throws the signal's reason. */
export function writeTar(handle: FileHandle, modified: Date, signal?: AbortSignal): TarWriter {
  const file = appending(handle, { sendOn: true });
  let last = 0;
  let whole = createHash('sha256');
  let wholeBefore = whole.copy();
  const append = (bytes: Uint8Array): Promise<void> => {
    whole.update(bytes);
    return file.append(bytes);
  };
  const takeBack = (): Promise<void> => {
    whole = wholeBefore.copy();
    return file.cut(last);
  };
  return {
    async add(name, size, source, { sha3 = false } = {}) {
      last = file.end;
      wholeBefore = whole.copy();
      const [sha256, sha3_384] = [createHash('sha256'), createHash('sha3-384')];
      try {
        await append(tarHeader(name, size, modified));
        let written = 0;
        for await (const bytes of read(name, source)) {
          // Here, where whoever reads the source also closes it.
          signal?.throwIfAborted();
          written += bytes.length;
          if (written > size) throw new CannotReadSource(name, 'it grew meanwhile');
          sha256.update(bytes);
          if (sha3) sha3_384.update(bytes);
          await append(bytes);
        }
        if (written < size)
          throw new CannotReadSource(name, `it ends after ${String(written)} of ${String(size)} bytes`);
        await append(Buffer.alloc(padding(size)));
      } catch (error) {
        if (error instanceof CannotReadSource) await takeBack();
        throw error;
      }
      return { size, sha256: sha256.digest('hex'), sha3_384: sha3 ? sha3_384.digest('hex') : undefined };
    },
    takeBack,
    async finish() {
      await append(Buffer.alloc(2 * block));
      await file.finish();
      return whole.digest('hex');
    },
  };
}

/** The same bytes, with errors of reading told from those of writing. */
async function* read(name: string, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* source;
  } catch (cause) {
    throw new CannotReadSource(name, 'it cannot be read', cause);
  }
}

export interface TarEntry {
  name: string;
  size: number;
  /** Where its bytes begin in the archive. */
  offset: number;
}

export interface TarReader {
  entries: TarEntry[];
  /** The bytes of an entry. */
  read(entry: TarEntry): AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

/** An archive that is cut off, or is none. */
export class NotWhole extends Error {
  constructor(file: string) {
    super(`${file} is no whole backup: it is cut off, damaged, or something else`);
    this.name = 'NotWhole';
  }
}

/** Opens an archive and finds its entries, from header to header; throws NotWhole. */
export async function readTar(file: string): Promise<TarReader> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const entries = await findEntries(handle, size);
    if (entries === undefined) throw new NotWhole(file);
    return {
      entries,
      async *read({ offset, size: length }) {
        for (let at = 0; at < length;) {
          const bytes = await readExactly(handle, offset + at, Math.min(chunk, length - at));
          if (bytes === undefined) throw new NotWhole(file);
          at += bytes.length;
          yield bytes;
        }
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function findEntries(handle: FileHandle, size: number): Promise<TarEntry[] | undefined> {
  const entries: TarEntry[] = [];
  for (let at = 0; ;) {
    const head = await readExactly(handle, at, block);
    if (head === undefined) return undefined;
    if (head.every((byte) => byte === 0))
      return (await readExactly(handle, at + block, block)) === undefined ? undefined : entries;
    const entry = parsed(head, at + block);
    if (entry === undefined || entry.offset + entry.size > size) return undefined;
    entries.push(entry);
    at = entry.offset + entry.size + padding(entry.size);
  }
}

async function readExactly(handle: FileHandle, position: number, length: number): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length;) {
    const { bytesRead } = await handle.read(bytes, at, length - at, position + at);
    if (bytesRead === 0) return undefined;
    at += bytesRead;
  }
  return bytes;
}

/** Nothing where it is none that larder writes: those are all of plain files. */
function parsed(head: Buffer, offset: number): TarEntry | undefined {
  try {
    const found = readHeader(head);
    return found?.type === '0' ? { name: found.name, size: found.size, offset } : undefined;
  } catch (error) {
    if (error instanceof BadHeader) return undefined;
    throw error;
  }
}

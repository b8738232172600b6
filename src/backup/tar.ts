// A backup is a plain tar archive: any tar of the last thirty years can look into one when larder is not at hand. What is
// needed of the format is little: regular files, written in order, found again by their headers.
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

import { Archive, type ArchiveFaults } from '#files/archive.ts';
import { appending } from '#files/streamed.ts';
import { BadHeader, block, padding, tarHeader, type TarHeader } from '#files/tar-header.ts';

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
export function readTar(file: string): Promise<TarReader> {
  const faults: ArchiveFaults = {
    cutOff: () => new NotWhole(file),
    // As the system says it of whatever else wants to read one.
    noFile: (isFolder) =>
      isFolder ? Object.assign(new Error(`${file} is a folder`), { code: 'EISDIR', path: file }) : new NotWhole(file),
  };
  return Archive.open(file, faults, async (archive) => ({
    entries: await entriesOf(archive),
    read: ({ offset, size }) => archive.chunks(offset, size),
    close: () => archive.close(),
  }));
}

async function entriesOf(archive: Archive): Promise<TarEntry[]> {
  const entries: TarEntry[] = [];
  for (let at = 0; ;) {
    const header = await headerOf(archive, at);
    if (header === undefined) {
      // The end is two blocks, and the second of them is there.
      await archive.read(at + block, block);
      return entries;
    }
    const { name, size, type } = header;
    const offset = at + block;
    // Those that larder writes are all of plain files.
    if (type !== '0' || offset + size > archive.size) throw new NotWhole(archive.file);
    entries.push({ name, size, offset });
    at = offset + size + padding(size);
  }
}

async function headerOf(archive: Archive, at: number): Promise<TarHeader | undefined> {
  try {
    return await archive.header(at);
  } catch (error) {
    if (error instanceof BadHeader) throw new NotWhole(archive.file);
    throw error;
  }
}

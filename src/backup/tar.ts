// Writes and reads backups as plain tar archives, so that any tar of the last thirty years can open one without larder. Only a part of the
// format is needed: regular files, written in order and found by their headers.
import { createDigest } from '#domain/cryptography.ts';
import type { FileHandle } from 'node:fs/promises';

import { TarArchive, type ArchiveErrors, type ArchiveSource } from '#files/tar-archive.ts';
import { toAppendOnlyFile } from '#files/durable-streams.ts';
import { InvalidTarHeader, block, padding, readHeader, tarHeader, type TarHeader } from '#files/tar-header.ts';

export interface TarWriter {
  /**
   * Adds a file of this size, read from `source`. Returns its SHA-256, and its SHA3-384 if asked for. If the source cannot be read to its
   * end, throws CannotReadSource and leaves the archive as it was.
   */
  add(
    name: string,
    size: number,
    source: AsyncIterable<Uint8Array>,
    options?: { sha3?: boolean },
  ): Promise<WrittenTarFile>;
  /** Removes the file that was added last. */
  takeBack(): Promise<void>;
  /** Writes the end of the archive and makes all of it durable. Returns the SHA-256 of the whole file. */
  finish(): Promise<string>;
}

export interface WrittenTarFile {
  size: number;
  sha256: string;
  sha3_384: string | undefined;
}

/** A source could not be read completely. The archive itself is intact. */
export class CannotReadSource extends Error {
  constructor(name: string, reason: string, cause?: unknown) {
    super(`cannot back up ${name}: ${reason}`, cause === undefined ? undefined : { cause });
    this.name = 'CannotReadSource';
  }
}

/** Starts an archive in an empty file. When `signal` is aborted, `add` throws the signal's reason. */
export function writeTar(handle: FileHandle, modified: Date, signal?: AbortSignal): TarWriter {
  const file = toAppendOnlyFile(handle, { sendOn: true });
  let last = 0;
  let whole = createDigest('content sha256');
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
      const [sha256, sha3_384] = [createDigest('content sha256'), createDigest('content sha3-384')];
      try {
        await append(tarHeader(name, size, modified));
        let written = 0;
        for await (const bytes of read(name, source)) {
          // Throw inside the loop, so that the source is closed as well.
          signal?.throwIfAborted();
          written += bytes.length;
          if (written > size) throw new CannotReadSource(name, 'it grew while it was read');
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

/** Yields the same bytes, and marks errors of reading so that they differ from errors of writing. */
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
  /** The offset of its bytes in the archive. */
  offset: number;
}

export interface TarReader {
  entries: TarEntry[];
  /** Reads the bytes of an entry. */
  read(entry: TarEntry): AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

/** The archive is cut off, or is not a backup. */
export class NotWhole extends Error {
  constructor(file: string) {
    super(`${file} is not an intact backup: it is cut off, corrupt, or a file of another kind`);
    this.name = 'NotWhole';
  }
}

/** The entries to find: all of them, or only the last one, which takes few reads for an archive of any size. */
export type TarPart = 'whole' | 'end';

const errorsOf = (file: string): ArchiveErrors => ({
  cutOff: () => new NotWhole(file),
  // The error that the system gives when a program reads a folder.
  noFile: (isFolder) =>
    isFolder ? Object.assign(new Error(`${file} is a folder`), { code: 'EISDIR', path: file }) : new NotWhole(file),
});

/** Opens an archive and finds its entries from header to header. Throws NotWhole. */
export const readTar = (file: string, part: TarPart = 'whole'): Promise<TarReader> =>
  TarArchive.open(file, errorsOf(file), (archive) => readerOf(archive, part));

/** The same for an archive that is no file. Closes the source if it fails. */
export async function readTarFrom(
  source: ArchiveSource,
  { file, size }: { file: string; size: number },
  part: TarPart,
): Promise<TarReader> {
  try {
    return await readerOf(new TarArchive(source, file, size, errorsOf(file)), part);
  } catch (error) {
    await source.close();
    throw error;
  }
}

const readerOf = async (archive: TarArchive, part: TarPart): Promise<TarReader> => ({
  entries: part === 'whole' ? await entriesOf(archive) : [await lastEntryOf(archive)],
  read: ({ offset, size }) => archive.chunks(offset, size),
  close: () => archive.close(),
});

/** How much of the end is searched for the header of the last entry; if it is not there, 16 times as much. */
const firstEndBytes = 64 * 1024;

/** The entry that ends where the archive ends. Its header is the last one, so no content can imitate it. */
async function lastEntryOf(archive: TarArchive): Promise<TarEntry> {
  const { file, size } = archive;
  const end = size - 2 * block;
  if (size % block !== 0 || end < block || !(await archive.isEmpty(end, 2 * block))) throw new NotWhole(file);
  for (let length = firstEndBytes; ; length *= 16) {
    const from = Math.max(0, end - length);
    const bytes = await archive.read(from, end - from);
    for (let at = bytes.length - block; at >= 0; at -= block) {
      const entry = entryAt(bytes.subarray(at, at + block), from + at + block);
      if (entry !== undefined && entry.offset + entry.size + padding(entry.size) === end) return entry;
    }
    if (from === 0 || length > maxEndBytes) throw new NotWhole(file);
  }
}

const maxEndBytes = 1024 ** 3;

/** The entry of a header; undefined for other bytes. */
function entryAt(bytes: Buffer, offset: number): TarEntry | undefined {
  try {
    const header = readHeader(bytes);
    return header?.type === '0' ? { name: header.name, size: header.size, offset } : undefined;
  } catch (error) {
    if (error instanceof InvalidTarHeader) return undefined;
    throw error;
  }
}

async function entriesOf(archive: TarArchive): Promise<TarEntry[]> {
  const entries: TarEntry[] = [];
  for (let at = 0; ;) {
    const header = await headerOf(archive, at);
    if (header === undefined) {
      // The end is two blocks; check that the second one exists.
      await archive.read(at + block, block);
      return entries;
    }
    const { name, size, type } = header;
    const offset = at + block;
    // larder writes only regular files.
    if (type !== '0' || offset + size > archive.size) throw new NotWhole(archive.file);
    entries.push({ name, size, offset });
    at = offset + size + padding(size);
  }
}

async function headerOf(archive: TarArchive, at: number): Promise<TarHeader | undefined> {
  try {
    return await archive.header(at);
  } catch (error) {
    if (error instanceof InvalidTarHeader) throw new NotWhole(archive.file);
    throw error;
  }
}

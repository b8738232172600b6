// A backup is a plain tar archive: any tar of the last thirty years can look into one when larder is not at hand. What is
// needed of the format is so little (regular files, written in order, found again by their headers) that it stands here:
// POSIX ustar, with the size in base 256 where octal digits do not reach.
import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';

import { appending } from '#files/streamed.ts';

const block = 512;
const chunk = 1024 * 1024;
const largestOctal = 0o77777777777;
export interface TarWriter {
  /**
   * Adds a file of this size, read from `source`; its SHA-256, and its SHA3-384 when that is asked for. When it cannot be
   * read to its end (CannotReadSource) the archive is as it was before.
   */
  add(name: string, size: number, source: AsyncIterable<Uint8Array>, options?: { sha3?: boolean }): Promise<Written>;
  /** Takes the file that was added last out again. */
  takeBack(): Promise<void>;
  /** Writes the end of the archive, and makes all of it durable. */
  finish(): Promise<void>;
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

/** Begins an archive in an empty file. */
export function writeTar(handle: FileHandle, modified: Date): TarWriter {
  const file = appending(handle, { sendOn: true });
  let last = 0;
  const takeBack = (): Promise<void> => file.cut(last);
  return {
    async add(name, size, source, { sha3 = false } = {}) {
      last = file.end;
      const [sha256, sha3_384] = [createHash('sha256'), createHash('sha3-384')];
      try {
        await file.append(header(name, size, modified));
        let written = 0;
        for await (const bytes of read(name, source)) {
          written += bytes.length;
          if (written > size) throw new CannotReadSource(name, 'it grew meanwhile');
          sha256.update(bytes);
          if (sha3) sha3_384.update(bytes);
          await file.append(bytes);
        }
        if (written < size)
          throw new CannotReadSource(name, `it ends after ${String(written)} of ${String(size)} bytes`);
        await file.append(Buffer.alloc(padding(size)));
      } catch (error) {
        if (error instanceof CannotReadSource) await takeBack();
        throw error;
      }
      return { size, sha256: sha256.digest('hex'), sha3_384: sha3 ? sha3_384.digest('hex') : undefined };
    },
    takeBack,
    async finish() {
      await file.append(Buffer.alloc(2 * block));
      await file.finish();
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

const padding = (size: number): number => (block - (size % block)) % block;

function header(name: string, size: number, modified: Date): Buffer {
  const head = Buffer.alloc(block);
  const [prefix, last] = split(name);
  head.write(last, 0, 100);
  octal(head, 0o600, 100, 8);
  octal(head, 0, 108, 8);
  octal(head, 0, 116, 8);
  if (size <= largestOctal) octal(head, size, 124, 12);
  else {
    head.writeUInt8(0x80, 124);
    head.writeBigUInt64BE(BigInt(size), 128);
  }
  octal(head, Math.floor(modified.getTime() / 1000), 136, 12);
  head.write('0', 156);
  head.write('ustar\u000000', 257);
  head.write(prefix, 345, 155);
  head.fill(' ', 148, 156);
  octal(head, sum(head), 148, 7);
  return head;
}

/** Names longer than 100 bytes are split at a slash. */
function split(name: string): [string, string] {
  if (name.length <= 100) return ['', name];
  const slash = name.lastIndexOf('/');
  return [name.slice(0, slash), name.slice(slash + 1)];
}

function octal(head: Buffer, value: number, at: number, length: number): void {
  head.write(`${value.toString(8).padStart(length - 1, '0')}\u0000`, at, length, 'latin1');
}

const sum = (head: Buffer): number => head.reduce((total, byte) => total + byte, 0);

function parsed(head: Buffer, offset: number): TarEntry | undefined {
  const text = (at: number, length: number): string =>
    head.toString('latin1', at, at + length).replace(/\u0000.*$/s, '');
  const written = Number.parseInt(text(148, 8), 8);
  const blank = Buffer.from(head);
  blank.fill(' ', 148, 156);
  if (written !== sum(blank) || text(257, 5) !== 'ustar' || text(156, 1) !== '0') return undefined;
  const size = head.readUInt8(124) === 0x80 ? Number(head.readBigUInt64BE(128)) : Number.parseInt(text(124, 12), 8);
  if (!Number.isSafeInteger(size) || size < 0) return undefined;
  const prefix = text(345, 155);
  return { name: prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`, size, offset };
}

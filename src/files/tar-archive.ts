// Reads a tar archive from a disk, a stick or a bucket. A read returns all requested bytes or throws: the archive may be truncated,
// change while it is read, or be another kind of file. The caller supplies the errors.
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

import { block, readHeader, type TarHeader } from './tar-header.ts';

const chunk = 1024 * 1024;
const zeros = Buffer.alloc(2 * block);
/** The number of bytes read at once: `wide` for consecutive reads, `narrow` after a jump over a content. */
const window = { wide: 64 * 1024, narrow: 2 * 1024 };

/** The errors for an invalid archive. */
export interface ArchiveErrors {
  cutOff(): Error;
  noFile(isFolder: boolean): Error;
}

/** The bytes of an archive: an open file, several open files in a row, or an object in a bucket. */
export type ArchiveSource = Pick<FileHandle, 'close'> & {
  readonly fd?: number;
  /** The descriptors that have the bytes, if there are several. */
  ranges?(offset: number, size: number): ArchiveRange[];
  read(into: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
};

/** A part of the archive in one open file. */
export interface ArchiveRange {
  descriptor: number;
  offset: number;
  size: number;
}

export class TarArchive {
  readonly #source: ArchiveSource;
  readonly #faults: ArchiveErrors;
  readonly file: string;
  /** The size in bytes when it was opened. */
  readonly size: number;
  #window: { begin: number; bytes: Buffer } = { begin: 0, bytes: Buffer.alloc(0) };
  /** Reads started in advance, by position. */
  readonly #ahead = new Map<number, Promise<Buffer>>();

  constructor(source: ArchiveSource, file: string, size: number, faults: ArchiveErrors) {
    this.#source = source;
    this.#faults = faults;
    this.file = file;
    this.size = size;
  }

  /** Opens a file and calls `begin` with it. If that fails, closes the file. */
  static async open<Result>(
    file: string,
    faults: ArchiveErrors,
    begin: (archive: TarArchive) => Promise<Result>,
  ): Promise<Result> {
    // Opening a pipe would block until another process writes to it.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw faults.noFile(stats.isDirectory());
      return await begin(new TarArchive(handle, file, stats.size, faults));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Where the bytes are, for a worker thread that reads them; valid until `close`. */
  ranges(offset: number, size: number): ArchiveRange[] {
    return this.#source.ranges?.(offset, size) ?? [{ descriptor: this.#source.fd!, offset, size }];
  }

  /** The header at a position; undefined at the end of the archive. Throws `InvalidTarHeader`. */
  async header(position: number): Promise<TarHeader | undefined> {
    return readHeader(await this.near(position, block));
  }

  /** Bytes outside the contents. Reads the following bytes too, because they are needed next. */
  async near(position: number, length: number): Promise<Buffer> {
    const ahead = this.#ahead.get(position);
    if (ahead !== undefined) {
      this.#ahead.delete(position);
      this.#window = { begin: position, bytes: await ahead };
    }
    const { begin, bytes } = this.#window;
    if (position < begin || position + length > begin + bytes.length) {
      const windowSize = position >= begin && position <= begin + bytes.length ? window.wide : window.narrow;
      const readLength = Math.max(length, Math.min(windowSize, this.size - position));
      this.#window = { begin: position, bytes: await this.read(position, readLength) };
    }
    const at = position - this.#window.begin;
    return this.#window.bytes.subarray(at, at + length);
  }

  /** Starts a read for a later call of `near` with the same position, so that several reads run in parallel. */
  readAhead(position: number, length: number): void {
    const bytes = this.read(position, length);
    // `near` reports the failure.
    bytes.catch(() => undefined);
    this.#ahead.set(position, bytes);
  }

  /** Whether the archive has exactly these bytes at a position. */
  async holds(begin: number, bytes: Uint8Array): Promise<boolean> {
    for (let at = 0; at < bytes.length; at += chunk) {
      const some = bytes.subarray(at, at + chunk);
      if (!(await this.near(begin + at, some.length)).equals(some)) return false;
    }
    return true;
  }

  /** Whether there are only zeros, at most the two blocks of an end. */
  async isEmpty(position: number, length: number): Promise<boolean> {
    return (await this.near(position, length)).equals(zeros.subarray(0, length));
  }

  /** The bytes of a content, in chunks. */
  async *chunks(begin: number, size: number): AsyncGenerator<Buffer> {
    for (let at = 0; at < size; at += chunk) yield this.read(begin + at, Math.min(chunk, size - at));
  }

  async read(position: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length;) {
      const { bytesRead } = await this.#source.read(bytes, at, length - at, position + at).catch((error: unknown) => {
        throw (error as NodeJS.ErrnoException).code === undefined ? error : readingFailed(this.file, error);
      });
      if (bytesRead === 0) throw this.#faults.cutOff();
      at += bytesRead;
    }
    return bytes;
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}

/** Adds the file name to a read error: the system does not name a file that is already open. */
export const readingFailed = (file: string, cause: unknown): Error =>
  Object.assign(new Error(`cannot read ${file}`, { cause }), {
    code: (cause as NodeJS.ErrnoException).code,
    path: file,
    syscall: 'read',
  });

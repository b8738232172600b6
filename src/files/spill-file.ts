// A spill file: data of one piece of work that is too large for memory and read several times. The file has no name and
// disappears when it is closed.
import { randomUUID } from '#domain/cryptography.ts';
import { closeSync, constants, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Data up to `memory` bytes stays in memory, more goes to a file. `read` is the number of bytes read from the file at
 * once, for consecutive reads.
 */
const sizes = { memory: 1024 * 1024, read: 8 * 1024 };

export class SpillFile {
  readonly #folder: string;
  #file: number | undefined;
  /** The size of the file in bytes. */
  #written = 0;
  /** The bytes after those in the file, which are still in memory. */
  #last: Buffer = Buffer.allocUnsafeSlow(16 * 1024);
  #lastLength = 0;
  /** The last read part of the file and its position. */
  readonly #window: Buffer = Buffer.allocUnsafeSlow(sizes.read);
  #windowBegin = 0;
  #windowEnd = 0;

  /** @param folder the folder for the file, if one is needed */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Adds a text or bytes. Returns their position and length in bytes. */
  add(text: string | Uint8Array): { begin: number; length: number } {
    const begin = this.#written + this.#lastLength;
    const length = Buffer.byteLength(text);
    if (this.#lastLength + length > this.#last.length) this.#grow(this.#lastLength + length);
    if (this.#lastLength + length > this.#last.length) {
      this.#write(typeof text === 'string' ? Buffer.from(text) : text);
      return { begin, length };
    }
    if (typeof text === 'string') this.#last.write(text, this.#lastLength);
    else this.#last.set(text, this.#lastLength);
    this.#lastLength += length;
    return { begin, length };
  }

  /** Returns the bytes at a position. They are valid until the next read. */
  read(begin: number, length: number): Buffer {
    if (begin >= this.#written) {
      const at = begin - this.#written;
      return this.#last.subarray(at, at + length);
    }
    if (length > sizes.read) {
      const whole = Buffer.allocUnsafe(length);
      this.#fill(whole, begin);
      return whole;
    }
    if (begin < this.#windowBegin || begin + length > this.#windowEnd) {
      // Reads in the direction of iteration, so that the next item is in the window too.
      const isBefore = begin < this.#windowBegin && begin + sizes.read > this.#windowBegin;
      const from = isBefore ? Math.max(0, begin + length - sizes.read) : begin;
      const windowLength = Math.min(sizes.read, this.#written - from);
      [this.#windowBegin, this.#windowEnd] = [0, 0];
      this.#fill(this.#window.subarray(0, windowLength), from);
      [this.#windowBegin, this.#windowEnd] = [from, from + windowLength];
    }
    const at = begin - this.#windowBegin;
    return this.#window.subarray(at, at + length);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  /** Makes room for `length` bytes in memory, or writes the bytes in memory to the file. */
  #grow(length: number): void {
    if (length > sizes.memory || this.#file !== undefined) {
      this.#write(this.#last.subarray(0, this.#lastLength));
      this.#lastLength = 0;
      return;
    }
    const grown = Buffer.allocUnsafeSlow(Math.min(sizes.memory, Math.max(length, this.#last.length * 2)));
    this.#last.copy(grown, 0, 0, this.#lastLength);
    this.#last = grown;
  }

  #write(bytes: Uint8Array): void {
    this.#file ??= namelessFile(this.#folder);
    for (let done = 0; done < bytes.length;)
      done += writeSync(this.#file, bytes, done, bytes.length - done, this.#written + done);
    this.#written += bytes.length;
  }

  #fill(into: Buffer, from: number): void {
    if (this.#file === undefined) throw new Error('cannot read the spill file: it is closed');
    for (let done = 0; done < into.length;) {
      const read = readSync(this.#file, into, done, into.length - done, from + done);
      if (read === 0) throw new Error('cannot read the spill file: it is truncated');
      done += read;
    }
  }
}

/** Calls `work` with a spill file and closes it afterwards. */
export async function withSpillFile<Result>(
  folder: string,
  work: (spool: SpillFile) => Promise<Result>,
): Promise<Result> {
  const spool = new SpillFile(folder);
  try {
    return await work(spool);
  } finally {
    spool.close();
  }
}

/** A file that no other process can open. The system deletes it when it is closed or this process ends. */
function namelessFile(folder: string): number {
  try {
    return openSync(folder, O_RDWR | tmpFile, 0o600);
  } catch (error) {
    // Some file systems do not support nameless files; they report this with different errors.
    if (!['EOPNOTSUPP', 'EISDIR', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  const path = join(folder, `.spool-${randomUUID()}`);
  const file = openSync(path, 'wx+', 0o600);
  rmSync(path);
  return file;
}

const { O_DIRECTORY, O_RDWR } = constants;
/** O_TMPFILE, which is missing in Node's constants. */
const tmpFile = 0o20000000 | O_DIRECTORY;

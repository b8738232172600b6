// What a piece of work goes through several times and is too much for memory: it lies in a file that has no name, and is gone
// with whoever has it open.
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** What is less than this lies in memory, and a file is made of more; of that as much is read at once as helps who goes on. */
const sizes = { memory: 1024 * 1024, read: 8 * 1024 };

export class Spool {
  readonly #folder: string;
  #file: number | undefined;
  /** How many bytes the file has. */
  #written = 0;
  /** What comes behind them. */
  #last: Buffer = Buffer.allocUnsafeSlow(16 * 1024);
  #lastLength = 0;
  /** What of the file was read last, and from where. */
  readonly #window: Buffer = Buffer.allocUnsafeSlow(sizes.read);
  #windowBegin = 0;
  #windowEnd = 0;

  /** @param folder where the file is made, when there is one */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Adds a text, or its bytes; gives where they begin, and how many there are. */
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

  /** The bytes that were added there, which are good until the next ones are read. */
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
      // In whichever direction somebody goes through it, the next piece is there too.
      const isBefore = begin < this.#windowBegin && begin + sizes.read > this.#windowBegin;
      const from = isBefore ? Math.max(0, begin + length - sizes.read) : begin;
      const most = Math.min(sizes.read, this.#written - from);
      [this.#windowBegin, this.#windowEnd] = [0, 0];
      this.#fill(this.#window.subarray(0, most), from);
      [this.#windowBegin, this.#windowEnd] = [from, from + most];
    }
    const at = begin - this.#windowBegin;
    return this.#window.subarray(at, at + length);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  /** Makes room for so many bytes in memory, or none in it. */
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
    if (this.#file === undefined) throw new Error('cannot read what was put aside: it is closed');
    for (let done = 0; done < into.length;) {
      const read = readSync(this.#file, into, done, into.length - done, from + done);
      if (read === 0) throw new Error('cannot read what was put aside: its file is cut off');
      done += read;
    }
  }
}

/** Does something with a spool, which is gone afterwards. */
export async function withSpool<Result>(folder: string, work: (spool: Spool) => Promise<Result>): Promise<Result> {
  const spool = new Spool(folder);
  try {
    return await work(spool);
  } finally {
    spool.close();
  }
}

/** A file that nobody else can open, and that the system takes away when it is closed, or this process is no more. */
function namelessFile(folder: string): number {
  try {
    return openSync(folder, O_RDWR | tmpFile, 0o600);
  } catch (error) {
    // Not every file system has files without a name, and each says so in its own way.
    if (!['EOPNOTSUPP', 'EISDIR', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  const path = join(folder, `.spool-${randomUUID()}`);
  const file = openSync(path, 'wx+', 0o600);
  rmSync(path);
  return file;
}

const { O_DIRECTORY, O_RDWR } = constants;
/** O_TMPFILE, which Node has no name for. */
const tmpFile = 0o20000000 | O_DIRECTORY;

// A tar archive that is read from a disk or a stick: the bytes that are asked for, or none of them. It may end before it
// should, change while it is read, or be something else; whoever reads it says what that means to him.
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

import { block, readHeader, type TarHeader } from './tar-header.ts';

const chunk = 1024 * 1024;
/** How much is read at once of what stands one behind the other; and of what stands between two contents. */
const window = { wide: 64 * 1024, narrow: 2 * 1024 };

/** What is thrown where it is not what it must be. */
export interface ArchiveFaults {
  cutOff(): Error;
  noFile(isFolder: boolean): Error;
}

export class Archive {
  readonly #handle: FileHandle;
  readonly #faults: ArchiveFaults;
  readonly file: string;
  /** How many bytes it had when it was opened. */
  readonly size: number;
  #window: { begin: number; bytes: Buffer } = { begin: 0, bytes: Buffer.alloc(0) };
  /** What is read before it is asked for, by where it begins. */
  readonly #ahead = new Map<number, Promise<Buffer>>();

  private constructor(handle: FileHandle, file: string, size: number, faults: ArchiveFaults) {
    this.#handle = handle;
    this.#faults = faults;
    this.file = file;
    this.size = size;
  }

  /** Opens a file, and does something with it; where that fails, the file is closed. */
  static async open<Result>(
    file: string,
    faults: ArchiveFaults,
    begin: (archive: Archive) => Promise<Result>,
  ): Promise<Result> {
    // A pipe would wait for somebody to write to it.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await handle.stat();
      if (!found.isFile()) throw faults.noFile(found.isDirectory());
      return await begin(new Archive(handle, file, found.size, faults));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** For a thread that reads it; good until this is closed. */
  get descriptor(): number {
    return this.#handle.fd;
  }

  /** The header at a position; nothing at the end of the archive. Throws `BadHeader`. */
  async header(position: number): Promise<TarHeader | undefined> {
    return readHeader(await this.near(position, block));
  }

  /** Bytes of what stands between the contents: those around them are read with them, since they are asked for next. */
  async near(position: number, length: number): Promise<Buffer> {
    const ahead = this.#ahead.get(position);
    if (ahead !== undefined) {
      this.#ahead.delete(position);
      this.#window = { begin: position, bytes: await ahead };
    }
    const { begin, bytes } = this.#window;
    if (position < begin || position + length > begin + bytes.length) {
      const wanted = position >= begin && position <= begin + bytes.length ? window.wide : window.narrow;
      const most = Math.max(length, Math.min(wanted, this.size - position));
      this.#window = { begin: position, bytes: await this.read(position, most) };
    }
    const at = position - this.#window.begin;
    return this.#window.bytes.subarray(at, at + length);
  }

  /** Begins to read what `near` is asked for soon, at the same position: so several are read side by side. */
  readAhead(position: number, length: number): void {
    const bytes = this.read(position, length);
    // Whoever asks for it hears of a failure.
    bytes.catch(() => undefined);
    this.#ahead.set(position, bytes);
  }

  /** Whether just these bytes stand there. */
  async holds(begin: number, bytes: Uint8Array): Promise<boolean> {
    for (let at = 0; at < bytes.length; at += chunk) {
      const some = bytes.subarray(at, at + chunk);
      if (!(await this.near(begin + at, some.length)).equals(some)) return false;
    }
    return true;
  }

  /** Whether there is nothing but zeros. */
  async isEmpty(position: number, length: number): Promise<boolean> {
    return (await this.near(position, length)).every((byte) => byte === 0);
  }

  /** The bytes of a content, piece by piece. */
  async *chunks(begin: number, size: number): AsyncGenerator<Buffer> {
    for (let at = 0; at < size; at += chunk) yield this.read(begin + at, Math.min(chunk, size - at));
  }

  async read(position: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length;) {
      const { bytesRead } = await this.#handle.read(bytes, at, length - at, position + at).catch((error: unknown) => {
        throw readingFailed(this.file, error);
      });
      if (bytesRead === 0) throw this.#faults.cutOff();
      at += bytesRead;
    }
    return bytes;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Says of which file it was: the system names none when it does not give what it has opened. */
export const readingFailed = (file: string, cause: unknown): Error =>
  Object.assign(new Error(`cannot read ${file}`, { cause }), {
    code: (cause as NodeJS.ErrnoException).code,
    path: file,
    syscall: 'read',
  });

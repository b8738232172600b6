// Opens the files of blobs and makes them durable. A failed fsync says that the kernel dropped bytes it had promised to
// write; trying again would only seem to work, so the store stops.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { unlink, type FileHandle, type open as openFile, type rename } from 'node:fs/promises';
import { join } from 'node:path';

import type { Now } from '#domain/clock.ts';
import { codeOf, isFull } from './errors.ts';

const { O_CREAT, O_DIRECT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
/** The kernel writes past its cache only from memory that begins with a page, as that of WebAssembly does. */
declare const WebAssembly: { Memory: new (size: { initial: number }) => { buffer: ArrayBuffer } };

interface Options {
  open: typeof openFile;
  move: typeof rename;
  now: Now;
  /** Told that the disk broke a promise; the process must accept no more writes and end. */
  fatal: (error: Error) => void;
}

export class DurableFiles {
  readonly #options: Options;
  /** Of a folder that is being synced, those who come too late for that and wait for the next one together. */
  readonly #syncing = new Map<string, { running: Promise<void>; next?: Promise<void> }>();
  #broken = false;
  #direct: Promise<boolean> | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Whether the disk broke a promise: it takes nothing any more. */
  get broken(): boolean {
    return this.#broken;
  }

  open(path: string, flags: number, mode?: number): Promise<FileHandle> {
    return this.#options.open(path, flags, mode);
  }

  /** Whether files in this folder, of which there is one, can be written past the page cache: it is tried once. */
  async takesDirect(folder: string): Promise<boolean> {
    try {
      return await (this.#direct ??= this.#tryDirect(folder));
    } catch (error) {
      this.#direct = undefined;
      throw error;
    }
  }

  async #tryDirect(folder: string): Promise<boolean> {
    const path = join(folder, `direct-${randomUUID()}`);
    try {
      const file = await this.open(path, O_WRONLY | O_CREAT | O_EXCL | O_DIRECT, 0o600);
      try {
        await file.write(new Uint8Array(new WebAssembly.Memory({ initial: 1 }).buffer, 0, 4096), 0, 4096, 0);
        return true;
      } finally {
        await file.close();
      }
    } catch (error) {
      if (!['EINVAL', 'EOPNOTSUPP'].includes(String(codeOf(error)))) throw error;
      return false;
    } finally {
      // A file system that refuses this may have made the file before.
      await unlink(path).catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error;
      });
    }
  }

  /** The file at a place; nothing where there is none. A symbolic link counts as nothing: no blob is ever one. */
  async openPresent(place: string): Promise<FileHandle | undefined> {
    try {
      return await this.open(place, O_RDONLY | O_NOFOLLOW);
    } catch (error) {
      if (['ENOENT', 'ELOOP'].includes(String(codeOf(error)))) return undefined;
      throw error;
    }
  }

  /** Moves a file in one step, in the place of whatever is there; false when there is none to move. */
  async move(from: string, to: string): Promise<boolean> {
    try {
      await this.#options.move(from, to);
      return true;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      return false;
    }
  }

  /** Makes a file or folder durable, or gives up for good. */
  async sync(handle: FileHandle): Promise<void> {
    await handle.sync().catch((cause: unknown) => this.#giveUp(cause));
  }

  /**
   * Makes the entries of a folder durable that it has now. Of many who ask for that at the same time the first is served, and
   * then all others by one sync, which begins after the last of them has asked (`npm run bench -- transfers`).
   */
  async syncFolder(path: string): Promise<void> {
    const before = this.#syncing.get(path);
    if (before !== undefined)
      return (before.next ??= before.running.catch(() => undefined).then(() => this.#begin(path)));
    return this.#begin(path);
  }

  #begin(path: string): Promise<void> {
    const running = this.#syncEntries(path).finally(() => {
      if (this.#syncing.get(path)?.running === running) this.#syncing.delete(path);
    });
    this.#syncing.set(path, { running });
    return running;
  }

  async #syncEntries(path: string): Promise<void> {
    const handle = await this.open(path, O_RDONLY);
    try {
      await this.sync(handle);
    } finally {
      await handle.close();
    }
  }

  /** Some file systems find out only here that the disk is full: the file is then given up, and no promise was made. */
  async syncReceived(file: FileHandle, how: 'sync' | 'datasync'): Promise<void> {
    await file[how]().catch((error: unknown) => this.syncFailed(error));
  }

  /** The same where another thread has synced the file. */
  syncFailed(error: unknown): never {
    if (isFull(error)) throw error;
    this.#giveUp(error);
  }

  /** The last thing done to a received file: it bears the time at which it was taken in. */
  async seal(file: FileHandle): Promise<void> {
    const moment = this.time();
    await file.utimes(moment, moment);
    await this.syncReceived(file, 'sync');
  }

  /** What a file bears that is taken in now. */
  time: Now = () => this.#options.now();

  #giveUp(cause: unknown): never {
    this.#broken = true;
    const error = new Error('cannot make a blob durable', { cause });
    this.#options.fatal(error);
    throw error;
  }
}

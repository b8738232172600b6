// Opens the files of blobs and makes them durable. A failed fsync says that the kernel dropped bytes it had promised to
// write; trying again would only seem to work, so the store stops.
import { constants } from 'node:fs';
import type { FileHandle, open as openFile, rename } from 'node:fs/promises';

import type { Now } from '#domain/clock.ts';
import { codeOf, isFull } from './errors.ts';

const { O_NOFOLLOW, O_RDONLY } = constants;

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
    await file[how]().catch((error: unknown) => {
      if (isFull(error)) throw error;
      this.#giveUp(error);
    });
  }

  /** The last thing done to a received file: it bears the time at which it was taken in. */
  async seal(file: FileHandle): Promise<void> {
    const moment = this.#options.now();
    await file.utimes(moment, moment);
    await this.syncReceived(file, 'sync');
  }

  #giveUp(cause: unknown): never {
    this.#broken = true;
    const error = new Error('cannot make a blob durable', { cause });
    this.#options.fatal(error);
    throw error;
  }
}

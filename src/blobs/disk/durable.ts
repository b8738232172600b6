// Opens the files of blobs and makes them durable. A failed fsync means that the kernel dropped bytes that it had
// promised to write; a second attempt would only seem to succeed, so the store stops.
import { randomUUID } from '#domain/cryptography.ts';
import { constants } from 'node:fs';
import { unlink, type FileHandle, type open as openFile, type rename } from 'node:fs/promises';
import { join } from 'node:path';

import type { Now } from '#domain/clock.ts';
import { codeOf, isFull } from './errors.ts';

const { O_CREAT, O_DIRECT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
/** Direct I/O needs memory that is aligned to a page, as the memory of WebAssembly is. */
declare const WebAssembly: { Memory: new (size: { initial: number }) => { buffer: ArrayBuffer } };

interface DurableFilesOptions {
  open: typeof openFile;
  move: typeof rename;
  now: Now;
  /** Called if an fsync failed; the process must refuse further writes and exit. */
  fatal: (error: Error) => void;
}

export class DurableFiles {
  readonly #options: DurableFilesOptions;
  /** Per folder: the running sync, and the next one, which serves all callers that came too late for the running one. */
  readonly #syncing = new Map<string, { running: Promise<void>; next?: Promise<void> }>();
  #broken = false;
  #direct: Promise<boolean> | undefined;

  constructor(options: DurableFilesOptions) {
    this.#options = options;
  }

  /** Whether an fsync has failed; the store then accepts no further content. */
  get broken(): boolean {
    return this.#broken;
  }

  open(path: string, flags: number, mode?: number): Promise<FileHandle> {
    return this.#options.open(path, flags, mode);
  }

  /** Whether files in the folder can be written past the page cache. It is tried once; there is only one such folder. */
  async supportsDirect(folder: string): Promise<boolean> {
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
      // A file system may create the file and still refuse direct I/O.
      await unlink(path).catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error;
      });
    }
  }

  /** Opens the file at a path; undefined if there is none. A symbolic link counts as absent, because no blob is one. */
  async openIfPresent(place: string): Promise<FileHandle | undefined> {
    try {
      return await this.open(place, O_RDONLY | O_NOFOLLOW);
    } catch (error) {
      if (['ENOENT', 'ELOOP'].includes(String(codeOf(error)))) return undefined;
      throw error;
    }
  }

  /** Moves a file atomically and replaces the target; returns false if the source does not exist. */
  async move(from: string, to: string): Promise<boolean> {
    try {
      await this.#options.move(from, to);
      return true;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      return false;
    }
  }

  /** Makes a file or folder durable. On failure the store stops. */
  async sync(handle: FileHandle): Promise<void> {
    await handle.sync().catch((cause: unknown) => this.#giveUp(cause));
  }

  /**
   * Makes the current entries of a folder durable. If many callers ask at the same time, the first gets a sync of its
   * own and all others share one, which begins after the last of them has asked (`npm run bench -- transfers`).
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

  /** Some file systems report a full disk only here: the upload then fails, and nothing was promised. */
  async syncReceived(file: FileHandle, how: 'sync' | 'datasync'): Promise<void> {
    await file[how]().catch((error: unknown) => this.syncFailed(error));
  }

  /** Like `syncReceived`, for a file that another thread has synced. */
  syncFailed(error: unknown): never {
    if (isFull(error)) throw error;
    this.#giveUp(error);
  }

  /** The last step for a received file: sets its modification time to the time of receipt. */
  async seal(file: FileHandle): Promise<void> {
    const moment = this.time();
    await file.utimes(moment, moment);
    await this.syncReceived(file, 'sync');
  }

  /** The modification time for content that is received now. */
  time: Now = () => this.#options.now();

  #giveUp(cause: unknown): never {
    this.#broken = true;
    const error = new Error('cannot make a blob durable', { cause });
    this.#options.fatal(error);
    throw error;
  }
}

// Stores content at its path, under its digest, and removes it. Any process of the store may do either at any time, so
// each step is atomic in the file system: a file is moved first and examined afterwards, never examined and then
// removed.
import { randomUUID } from '#domain/cryptography.ts';
import { constants } from 'node:fs';
import { chmod, copyFile, link, lstat, mkdir, opendir, readdir, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { requireDigest, type StoredBlob } from '../blobs.ts';
import type { Proofs } from '../proofs.ts';
import type { DurableFiles } from './durable.ts';
import { codeOf } from './errors.ts';

const { O_NOFOLLOW, O_RDONLY } = constants;

export class DiskContents {
  readonly root: string;
  /** The folder of files that are being received. */
  readonly temporary: string;
  /** The folder of complete content. */
  readonly content: string;
  readonly #quarantined: string;
  /** The folder of files that are being removed. */
  readonly #leaving: string;
  readonly #files: DurableFiles;
  readonly #proofs: Proofs;
  /** The folders below `content` that are durable. */
  readonly #shards = new Map<string, Promise<string>>();
  /** Folders with renamed entries that do not survive a power cut yet. */
  #unsynced = new Set<string>();
  /** The folders below `content` that the group may enter. */
  readonly #sharedFolders = new Set<string>();
  /** Settles when all earlier calls of `placed` are done. */
  #placed: Promise<void> = Promise.resolve();

  constructor(directory: string, files: DurableFiles, proofs: Proofs) {
    this.root = join(directory, 'blobs');
    this.temporary = join(this.root, 'tmp');
    this.content = join(this.root, 'sha3');
    this.#quarantined = join(this.root, 'quarantine');
    this.#leaving = join(this.root, 'leaving');
    this.#files = files;
    this.#proofs = proofs;
  }

  /** Makes the folders durable and restores content that a killed process had moved away to remove it. */
  async make(directory: string): Promise<void> {
    for (const folder of [this.root, this.temporary, this.content, this.#quarantined, this.#leaving]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chmod(folder, 0o700);
    }
    await this.#files.syncFolder(directory);
    await this.#files.syncFolder(this.root);
    for (const name of await readdir(this.#leaving)) {
      const [, sha3_384] = /^([0-9a-f]{96})\./.exec(name) ?? [];
      if (sha3_384 !== undefined) await this.#restoreAside(join(this.#leaving, name), sha3_384);
    }
  }

  path(sha3_384: string): string {
    return join(this.content, requireDigest(sha3_384).slice(0, 2), sha3_384);
  }

  quarantinePath(sha3_384: string): string {
    return join(this.#quarantined, requireDigest(sha3_384));
  }

  /**
   * Lets the group of the store's user read a content: it can enter the folders of content, but not list them. A file that the group
   * could not read must be verified again, because its metadata changes.
   */
  async shareWithGroup(sha3_384: string): Promise<void> {
    const place = this.path(sha3_384);
    const stats = await lstat(place).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
    });
    if (stats?.isFile() !== true) return;
    const folder = dirname(place);
    if (!this.#sharedFolders.has(folder)) {
      for (const outer of [this.root, this.content, folder]) await chmod(outer, 0o710);
      this.#sharedFolders.add(folder);
    }
    if ((stats.mode & 0o040) === 0) await chmod(place, 0o640);
  }

  /** Moves a durable temporary file to its path. It replaces the file there: the new bytes are verified, the old ones are not. */
  async settle(temporaryFile: string, sha3_384: string): Promise<void> {
    const folder = await this.#shard(sha3_384);
    const place = this.path(sha3_384);
    await rename(temporaryFile, place);
    await Promise.all([this.#files.syncFolder(folder), this.#files.syncFolder(this.temporary)]);
    this.#proofs.remember(sha3_384, place);
  }

  /** Like `settle`, but the move survives a power cut only after a later call of `placed` has resolved. */
  async settleWithOthers(temporaryFile: string, sha3_384: string): Promise<void> {
    const folder = await this.#shard(sha3_384);
    const place = this.path(sha3_384);
    await rename(temporaryFile, place);
    this.#unsynced.add(folder).add(this.temporary);
    this.#proofs.remember(sha3_384, place);
  }

  readonly together = {
    /** The path of a content, in a folder that is durable. */
    placeFor: async (sha3_384: string): Promise<string> => {
      await this.#shard(sha3_384);
      return this.path(sha3_384);
    },
    /** Records that a temporary file was moved there, as `settleWithOthers` does. */
    settled: (sha3_384: string, identity: string): void => {
      this.#unsynced.add(dirname(this.path(sha3_384))).add(this.temporary);
      this.#proofs.rememberAs(sha3_384, identity);
    },
  };

  /** Resolves when all earlier moves survive a power cut. With 512 contents, half of the folders hold more than one of them. */
  placed(): Promise<void> {
    const folders = [...this.#unsynced];
    this.#unsynced = new Set();
    // A concurrent call may already be syncing files that this caller moved, so wait for it too.
    const synced = [this.#placed, ...folders.map((folder) => this.#files.syncFolder(folder))];
    return (this.#placed = Promise.all(synced).then(() => undefined));
  }

  /** Returns false if it does not exist, or was received at or after that time. */
  async remove(sha3_384: string, storedBefore?: Date): Promise<boolean> {
    const place = this.path(sha3_384);
    const isOld = (stored: StoredBlob | undefined): boolean =>
      stored !== undefined && (storedBefore === undefined || stored.storedAt < storedBefore);
    if (!isOld(await statBlob(place, sha3_384))) return false;
    const aside = join(this.#leaving, `${sha3_384}.${randomUUID()}`);
    if (!(await this.#files.move(place, aside))) return false;
    // The moved file may have been received and acknowledged after the check above.
    if (!isOld(await statBlob(aside, sha3_384))) {
      await this.#restoreAside(aside, sha3_384);
      return false;
    }
    await unlinkPresent(aside);
    await Promise.all([this.#files.syncFolder(await this.#shard(sha3_384)), this.#files.syncFolder(this.#leaving)]);
    return true;
  }

  /** Returns false if it does not exist. */
  async quarantine(sha3_384: string): Promise<boolean> {
    const place = this.path(sha3_384);
    if ((await statBlob(place, sha3_384)) === undefined) return false;
    if (!(await this.#files.move(place, this.quarantinePath(sha3_384)))) return false;
    await Promise.all([this.#files.syncFolder(await this.#shard(sha3_384)), this.#files.syncFolder(this.#quarantined)]);
    return true;
  }

  async restoreQuarantined(sha3_384: string): Promise<void> {
    const file = await this.#files.open(this.quarantinePath(sha3_384), O_RDONLY | O_NOFOLLOW);
    await this.#files.seal(file).finally(() => file.close());
    const folder = await this.#shard(sha3_384);
    await rename(this.quarantinePath(sha3_384), this.path(sha3_384));
    await Promise.all([this.#files.syncFolder(folder), this.#files.syncFolder(this.#quarantined)]);
  }

  /** Copies a file into quarantine and replaces the file there. */
  async addToQuarantine(sha3_384: string, file: string): Promise<void> {
    const [copy, place] = [join(this.temporary, randomUUID()), this.quarantinePath(sha3_384)];
    try {
      await copyFile(file, copy, constants.COPYFILE_EXCL);
      await chmod(copy, 0o600);
      const handle = await this.#files.open(copy, O_RDONLY | O_NOFOLLOW);
      await this.#files.seal(handle).finally(() => handle.close());
      await rename(copy, place);
    } catch (error) {
      await unlinkPresent(copy);
      throw error;
    }
    await Promise.all([this.#files.syncFolder(this.#quarantined), this.#files.syncFolder(this.temporary)]);
  }

  listQuarantined(): AsyncGenerator<StoredBlob> {
    return listFolder(this.#quarantined);
  }

  /** Lists every content. If a folder cannot be read, calls `unread`, or throws if there is no `unread`. */
  async *list(unread?: (error: Error) => void): AsyncGenerator<StoredBlob> {
    for (const name of (await readdir(this.content)).sort()) {
      if (!/^[0-9a-f]{2}$/.test(name)) continue;
      try {
        yield* listFolder(join(this.content, name), name);
      } catch (error) {
        if (unread === undefined) throw error;
        unread(error as Error);
      }
    }
  }

  /** Returns the folder for a content, and makes it when it is first needed. */
  #shard(sha3_384: string): Promise<string> {
    const name = sha3_384.slice(0, 2);
    let made = this.#shards.get(name);
    if (made === undefined) {
      made = this.#makeShard(join(this.content, name));
      made.catch(() => this.#shards.delete(name));
      this.#shards.set(name, made);
    }
    return made;
  }

  async #makeShard(path: string): Promise<string> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await this.#files.syncFolder(this.content);
    return path;
  }

  /** Restores a file that was moved aside, unless its path is taken again or another process has restored it. */
  async #restoreAside(aside: string, sha3_384: string): Promise<void> {
    const folder = await this.#shard(sha3_384);
    await link(aside, this.path(sha3_384)).catch((error: unknown) => {
      if (!['EEXIST', 'ENOENT'].includes(String(codeOf(error)))) throw error;
    });
    await this.#files.syncFolder(folder);
    await unlinkPresent(aside);
    await this.#files.syncFolder(this.#leaving);
  }
}

/** Lists the files of a folder that are named by a digest with this prefix. */
async function* listFolder(folder: string, begin = ''): AsyncGenerator<StoredBlob> {
  for await (const entry of await opendir(folder)) {
    if (!/^[0-9a-f]{96}$/.test(entry.name) || !entry.name.startsWith(begin)) continue;
    const stored = await statBlob(join(folder, entry.name), entry.name);
    if (stored !== undefined) yield stored;
  }
}

/** The content at a path; undefined if there is no regular file. */
export async function statBlob(place: string, sha3_384: string): Promise<StoredBlob | undefined> {
  try {
    const stats = await lstat(place);
    return stats.isFile() ? { sha3_384, size: stats.size, storedAt: stats.mtime } : undefined;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

async function unlinkPresent(file: string): Promise<void> {
  await unlink(file).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
}

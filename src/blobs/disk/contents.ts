// Contents in their places, under their digests: what comes in, and what goes. Any process of the store may do either at any
// moment, so each step is one that the file system makes whole: a file is moved, never looked at and then removed.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, link, lstat, mkdir, opendir, readdir, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { mustBeDigest, type StoredBlob } from '../blobs.ts';
import type { Proofs } from '../proofs.ts';
import type { DurableFiles } from './durable.ts';
import { codeOf } from './errors.ts';

const { O_NOFOLLOW, O_RDONLY } = constants;

export class Contents {
  readonly root: string;
  /** Where files are while they are received. */
  readonly temporary: string;
  readonly #content: string;
  readonly #quarantined: string;
  /** Where files are between their place and their end. */
  readonly #leaving: string;
  readonly #files: DurableFiles;
  readonly #proofs: Proofs;
  /** The folders below `#content` that are known to survive a power cut. */
  readonly #shards = new Map<string, Promise<string>>();
  /** The folders in which something has its place, or had it, and does not yet survive a power cut. */
  #unsynced = new Set<string>();
  /** Settles when what was waited for before has its place. */
  #placed: Promise<void> = Promise.resolve();

  constructor(directory: string, files: DurableFiles, proofs: Proofs) {
    this.root = join(directory, 'blobs');
    this.temporary = join(this.root, 'tmp');
    this.#content = join(this.root, 'sha3');
    this.#quarantined = join(this.root, 'quarantine');
    this.#leaving = join(this.root, 'leaving');
    this.#files = files;
    this.#proofs = proofs;
  }

  /** Makes the folders, durably, and puts back what a process that was killed had moved out of its place. */
  async make(directory: string): Promise<void> {
    for (const folder of [this.root, this.temporary, this.#content, this.#quarantined, this.#leaving]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chmod(folder, 0o700);
    }
    await this.#files.syncFolder(directory);
    await this.#files.syncFolder(this.root);
    for (const name of await readdir(this.#leaving)) {
      const [, sha3_384] = /^([0-9a-f]{96})\./.exec(name) ?? [];
      if (sha3_384 !== undefined) await this.#comeBack(join(this.#leaving, name), sha3_384);
    }
  }

  path(sha3_384: string): string {
    return join(this.#content, mustBeDigest(sha3_384).slice(0, 2), sha3_384);
  }

  quarantinePath(sha3_384: string): string {
    return join(this.#quarantined, mustBeDigest(sha3_384));
  }

  /** Moves a durable temporary file to its place. It replaces what is there: these bytes are known to be good, those not. */
  async settle(temporaryFile: string, sha3_384: string): Promise<void> {
    const folder = await this.#shard(sha3_384);
    const place = this.path(sha3_384);
    await rename(temporaryFile, place);
    await Promise.all([this.#files.syncFolder(folder), this.#files.syncFolder(this.temporary)]);
    this.#proofs.remember(sha3_384, place);
  }

  /** The same, but that the move survives a power cut only when `placed` has resolved that was asked after it. */
  async settleWithOthers(temporaryFile: string, sha3_384: string): Promise<void> {
    const folder = await this.#shard(sha3_384);
    const place = this.path(sha3_384);
    await rename(temporaryFile, place);
    this.#unsynced.add(folder).add(this.temporary);
    this.#proofs.remember(sha3_384, place);
  }

  readonly together = {
    /** Where a content goes, in a folder that is durable. */
    placeFor: async (sha3_384: string): Promise<string> => {
      await this.#shard(sha3_384);
      return this.path(sha3_384);
    },
    /** Says that a temporary file was moved there, as `settleWithOthers` does it. */
    settled: (sha3_384: string, identity: string): void => {
      this.#unsynced.add(dirname(this.path(sha3_384))).add(this.temporary);
      this.#proofs.rememberAs(sha3_384, identity);
    },
  };

  /** Resolves once what has moved before survives a power cut: of 512 contents half the folders hold another of them. */
  placed(): Promise<void> {
    const folders = [...this.#unsynced];
    this.#unsynced = new Set();
    // What somebody else has waited for first may be what this one has moved.
    const synced = [this.#placed, ...folders.map((folder) => this.#files.syncFolder(folder))];
    return (this.#placed = Promise.all(synced).then(() => undefined));
  }

  /** False when it is not there, or was taken in at that moment or later. */
  async remove(sha3_384: string, storedBefore?: Date): Promise<boolean> {
    const place = this.path(sha3_384);
    const isOld = (stored: StoredBlob | undefined): boolean =>
      stored !== undefined && (storedBefore === undefined || stored.storedAt < storedBefore);
    if (!isOld(await storedBlob(place, sha3_384))) return false;
    const aside = join(this.#leaving, `${sha3_384}.${randomUUID()}`);
    if (!(await this.#files.move(place, aside))) return false;
    // What was moved may have come in after the look at it, and been acknowledged.
    if (!isOld(await storedBlob(aside, sha3_384))) {
      await this.#comeBack(aside, sha3_384);
      return false;
    }
    await unlinkPresent(aside);
    await Promise.all([this.#files.syncFolder(await this.#shard(sha3_384)), this.#files.syncFolder(this.#leaving)]);
    return true;
  }

  /** False when it is not there. */
  async quarantine(sha3_384: string): Promise<boolean> {
    const place = this.path(sha3_384);
    if ((await storedBlob(place, sha3_384)) === undefined) return false;
    if (!(await this.#files.move(place, this.quarantinePath(sha3_384)))) return false;
    await Promise.all([this.#files.syncFolder(await this.#shard(sha3_384)), this.#files.syncFolder(this.#quarantined)]);
    return true;
  }

  async putBack(sha3_384: string): Promise<void> {
    const file = await this.#files.open(this.quarantinePath(sha3_384), O_RDONLY | O_NOFOLLOW);
    await this.#files.seal(file).finally(() => file.close());
    const folder = await this.#shard(sha3_384);
    await rename(this.quarantinePath(sha3_384), this.path(sha3_384));
    await Promise.all([this.#files.syncFolder(folder), this.#files.syncFolder(this.#quarantined)]);
  }

  /** Copies a file into quarantine, in the place of what lies there. */
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

  /** Every content; `unread` is told of a folder that cannot be read, and without it that is thrown. */
  async *list(unread?: (error: Error) => void): AsyncGenerator<StoredBlob> {
    for (const name of (await readdir(this.#content)).sort()) {
      if (!/^[0-9a-f]{2}$/.test(name)) continue;
      try {
        yield* listFolder(join(this.#content, name), name);
      } catch (error) {
        if (unread === undefined) throw error;
        unread(error as Error);
      }
    }
  }

  /** The folder for a content, made when it is first needed. */
  #shard(sha3_384: string): Promise<string> {
    const name = sha3_384.slice(0, 2);
    let made = this.#shards.get(name);
    if (made === undefined) {
      made = this.#makeShard(join(this.#content, name));
      made.catch(() => this.#shards.delete(name));
      this.#shards.set(name, made);
    }
    return made;
  }

  async #makeShard(path: string): Promise<string> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await this.#files.syncFolder(this.#content);
    return path;
  }

  /** Puts back what was moved aside, unless its place was filled meanwhile or another process did so first. */
  async #comeBack(aside: string, sha3_384: string): Promise<void> {
    const folder = await this.#shard(sha3_384);
    await link(aside, this.path(sha3_384)).catch((error: unknown) => {
      if (!['EEXIST', 'ENOENT'].includes(String(codeOf(error)))) throw error;
    });
    await this.#files.syncFolder(folder);
    await unlinkPresent(aside);
    await this.#files.syncFolder(this.#leaving);
  }
}

/** What lies in a folder under a digest that begins so. */
async function* listFolder(folder: string, begin = ''): AsyncGenerator<StoredBlob> {
  for await (const entry of await opendir(folder)) {
    if (!/^[0-9a-f]{96}$/.test(entry.name) || !entry.name.startsWith(begin)) continue;
    const stored = await storedBlob(join(folder, entry.name), entry.name);
    if (stored !== undefined) yield stored;
  }
}

/** What lies at a place; nothing where no file is. */
export async function storedBlob(place: string, sha3_384: string): Promise<StoredBlob | undefined> {
  try {
    const found = await lstat(place);
    return found.isFile() ? { sha3_384, size: found.size, storedAt: found.mtime } : undefined;
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

// Contents in their places, under their digests: what comes in, what goes, and one thing at a time with each.
import { constants } from 'node:fs';
import { chmod, lstat, mkdir, opendir, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';

import { mustBeDigest, type StoredBlob, type TakenBlob } from '../blobs.ts';
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
  readonly #files: DurableFiles;
  readonly #proofs: Proofs;
  /** The folders below `#content` that are known to survive a power cut. */
  readonly #shards = new Map<string, Promise<string>>();
  /** The last thing that was begun with each content: one at a time, or taking in and removing could cross. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(directory: string, files: DurableFiles, proofs: Proofs) {
    this.root = join(directory, 'blobs');
    this.temporary = join(this.root, 'tmp');
    this.#content = join(this.root, 'sha3');
    this.#quarantined = join(this.root, 'quarantine');
    this.#files = files;
    this.#proofs = proofs;
  }

  /** Makes the folders, durably. */
  async make(directory: string): Promise<void> {
    for (const folder of [this.root, this.temporary, this.#content, this.#quarantined]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chmod(folder, 0o700);
    }
    await this.#files.syncFolder(directory);
    await this.#files.syncFolder(this.root);
  }

  path(sha3_384: string): string {
    return join(this.#content, mustBeDigest(sha3_384).slice(0, 2), sha3_384);
  }

  quarantinePath(sha3_384: string): string {
    return join(this.#quarantined, mustBeDigest(sha3_384));
  }

  /** Moves a durable temporary file to its place. */
  async settle(temporaryFile: string, { sha3_384, size }: TakenBlob): Promise<void> {
    const folder = await this.#shard(sha3_384);
    await this.#inTurn(sha3_384, async () => {
      const place = this.path(sha3_384);
      // Only what is known to be good may stay: these bytes mend what is not.
      if ((await this.#proofs.holds(sha3_384, place)) && (await this.#renew(place, size))) await unlink(temporaryFile);
      else await rename(temporaryFile, place);
      await Promise.all([this.#files.syncFolder(folder), this.#files.syncFolder(this.temporary)]);
      await this.#proofs.remember(sha3_384, place);
    });
  }

  /** False when it is not there, or was taken in at that moment or later. */
  remove(sha3_384: string, storedBefore?: Date): Promise<boolean> {
    return this.#inTurn(mustBeDigest(sha3_384), async () => {
      const place = this.path(sha3_384);
      const stored = await storedBlob(place, sha3_384);
      if (stored === undefined || (storedBefore !== undefined && stored.storedAt >= storedBefore)) return false;
      await unlink(place);
      await this.#files.syncFolder(await this.#shard(sha3_384));
      return true;
    });
  }

  /** False when it is not there. */
  quarantine(sha3_384: string): Promise<boolean> {
    return this.#inTurn(mustBeDigest(sha3_384), async () => {
      const place = this.path(sha3_384);
      if ((await storedBlob(place, sha3_384)) === undefined) return false;
      await rename(place, this.quarantinePath(sha3_384));
      await Promise.all([
        this.#files.syncFolder(await this.#shard(sha3_384)),
        this.#files.syncFolder(this.#quarantined),
      ]);
      return true;
    });
  }

  putBack(sha3_384: string): Promise<void> {
    return this.#inTurn(mustBeDigest(sha3_384), async () => {
      const file = await this.#files.open(this.quarantinePath(sha3_384), O_RDONLY | O_NOFOLLOW);
      await this.#files.seal(file).finally(() => file.close());
      const folder = await this.#shard(sha3_384);
      await rename(this.quarantinePath(sha3_384), this.path(sha3_384));
      await Promise.all([this.#files.syncFolder(folder), this.#files.syncFolder(this.#quarantined)]);
    });
  }

  /** Every content; `unread` is told of a folder that cannot be read, and without it that is thrown. */
  async *list(unread?: (error: Error) => void): AsyncGenerator<StoredBlob> {
    for (const name of (await readdir(this.#content)).sort()) {
      if (!/^[0-9a-f]{2}$/.test(name)) continue;
      try {
        yield* listShard(join(this.#content, name), name);
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

  #inTurn<T>(sha3_384: string, act: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(sha3_384) ?? Promise.resolve()).then(act, act);
    this.#turns.set(sha3_384, turn);
    const leave = (): void => {
      if (this.#turns.get(sha3_384) === turn) this.#turns.delete(sha3_384);
    };
    turn.then(leave, leave);
    return turn;
  }

  /** Makes sure of content that is there already; false when it is not, or has the wrong size and must be replaced. */
  async #renew(place: string, size: number): Promise<boolean> {
    const handle = await this.#files.openPresent(place);
    if (handle === undefined) return false;
    try {
      const there = await handle.stat();
      if (!there.isFile() || there.size !== size) return false;
      await this.#files.renew(handle);
      return true;
    } finally {
      await handle.close();
    }
  }
}

async function* listShard(folder: string, name: string): AsyncGenerator<StoredBlob> {
  for await (const entry of await opendir(folder)) {
    if (!/^[0-9a-f]{96}$/.test(entry.name) || !entry.name.startsWith(name)) continue;
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

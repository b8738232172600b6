// Receives content: into a temporary file, hashed as it grows, durable, and then in its place.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { readdir, rm, stat, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

import { noRoom } from '#domain/disk-full.ts';
import { Refusal } from '#domain/refusal.ts';
import {
  LeftToOthers,
  lengthOf,
  type Blobs,
  type Chunks,
  type CopyInOptions,
  type IsLive,
  type TakenBlob,
} from '../blobs.ts';
import { copyRanges, CutOff } from '../copying.ts';
import type { FileRange, FileRanges } from '../file-ranges.ts';
import type { DigestPool } from '../digests.ts';
import type { Places } from '../places.ts';
import type { Space, SpaceClaim } from '../space.ts';
import type { DurableFiles } from './durable.ts';
import { codeOf, isFull } from './errors.ts';
import { Together } from './together.ts';
import { fileWriter, syncedOnTheWay, writeWhole } from './writer.ts';

const { O_CREAT, O_DIRECT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
/** Writes are gathered to this size: fewer, larger ones cost less. All uploads together gather at most `gatheredByAll`. */
const batch = { smallest: 64 * 1024, largest: 1024 * 1024 };
const gatheredByAll = 64 * 1024 * 1024;
const smallBlob = 4 * 1024 * 1024;

/** Where what was received goes. */
export interface Destination {
  /** Where files are while they are received. */
  readonly temporary: string;
  /** Moves a temporary file to its place, durably. */
  settle(temporaryFile: string, sha3_384: string): Promise<void>;
  /** The same, of many; it may be durable later. */
  settleWithOthers(temporaryFile: string, sha3_384: string): Promise<void>;
  /** Where contents go that are taken in together, and what is told when they are there; left out, each goes by itself. */
  readonly together?: {
    placeFor(sha3_384: string): Promise<string>;
    settled(sha3_384: string, identity: string): void;
  };
  /** Where other hosts find what has come of an upload; left out, all processes of the store see its file. */
  readonly underWay?: UnderWay;
}

export interface UnderWay {
  /** Leaves there what came behind the first bytes. */
  leave(id: string, temporaryFile: string, from: number): Promise<void>;
  /** Makes the file of what was left, at least so many bytes. */
  fetch(id: string, temporaryFile: string, size: number): Promise<void>;
  /** Nobody goes on with it. */
  forget(id: string): Promise<unknown>;
}

interface Parts {
  files: DurableFiles;
  contents: Destination;
  digests: DigestPool;
  places: Places;
  room: Space;
  /** Whether a file is read again at once, to be sent elsewhere, and so should be in the page cache. */
  isSentOn?: boolean;
}

type Source = Parameters<Blobs['receive']>[0];
type Receiving = Parameters<Blobs['receive']>[1];

/** The file that is filled. */
interface Filling {
  file: FileHandle;
  temporaryFile: string;
  claim: SpaceClaim;
  /** Whether it is written past the page cache. */
  direct: boolean;
}

export class Receiver {
  readonly #parts: Parts;
  /** The uploads under way. */
  readonly #underWay = new Set<string>();
  /** Those of them of which something was left where other hosts find it. */
  readonly #left = new Set<string>();
  readonly #together: Together;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#together = new Together({ ...parts, temporary: parts.contents.temporary });
  }

  async receive(source: Source, how: Receiving): Promise<TakenBlob> {
    this.#parts.room.mustFit(how.expected, how.resume);
    const place = await this.#parts.places.take(how.from);
    return this.#take(how, (filling) => this.#fill(place.watch(source), how, filling)).finally(() => place.leave());
  }

  /** Takes in what lies in files that are open; whoever has the places makes the places of many durable. */
  async copyIn(ranges: FileRanges, how: CopyInOptions): Promise<void> {
    const { id, expected, limit, wrong, signal } = how;
    const { size } = expected;
    if (size > limit) throw tooLarge(limit);
    if (size <= smallBlob && Array.isArray(ranges) && this.#parts.contents.together !== undefined)
      return this.#copyTogether(ranges, how, this.#parts.contents.together);
    // Of a large one that comes alone two threads compute digests, one of them out of the page cache.
    const direct = (size <= smallBlob || this.#underWay.size > 0) && this.#parts.isSentOn !== true;
    const settle = (file: string, sha3_384: string) => this.#parts.contents.settleWithOthers(file, sha3_384);
    await this.#take(
      { id, expected: size, direct },
      async (filling) => {
        const found = await this.#copy(ranges, { size, signal }, filling).catch((error: unknown) => {
          throw error instanceof CutOff ? wrong() : error;
        });
        if (found['sha3-384'] !== expected.sha3_384 || found.sha256 !== expected.sha256) throw wrong();
        await this.#parts.files.syncReceived(filling.file, 'sync');
        return expected;
      },
      settle,
    );
  }

  /** Takes in a small content with others. */
  async #copyTogether(
    ranges: readonly FileRange[],
    { id, expected: { size, sha3_384, sha256 }, wrong, signal }: CopyInOptions,
    { placeFor, settled }: NonNullable<Destination['together']>,
  ): Promise<void> {
    const { files } = this.#parts;
    await this.#named(id, async (temporaryFile) => {
      const place = await placeFor(sha3_384);
      signal.throwIfAborted();
      const result = await this.#together
        .take({ temporaryFile, place, ranges, sha3_384, sha256 }, size)
        .catch(async (error: unknown) => {
          // The thread may have died with what it was writing.
          await rm(temporaryFile, { force: true });
          throw error;
        });
      if ('wrong' in result) throw wrong();
      if ('identity' in result) {
        settled(sha3_384, result.identity);
        return;
      }
      const { failed, code, syscall } = result;
      const error = Object.assign(new Error(failed), { code, syscall });
      if (syscall === 'fsync') files.syncFailed(error);
      throw error;
    });
  }

  /**
   * One thread copies; of a large file that comes alone another one follows, so that it uses two processors. The file bears the time
   * at which it was taken in.
   */
  async #copy(
    ranges: FileRanges,
    { size, signal }: { size: number; signal: AbortSignal },
    { file, temporaryFile, claim, direct }: Filling,
  ): Promise<{ 'sha3-384': string; sha256: string }> {
    const { digests, files } = this.#parts;
    const { time } = files;
    if (size <= smallBlob || direct) {
      const algorithms = ['sha3-384', 'sha256'] as const;
      const wrote = (end: number): Promise<void> => claim.wrote(end);
      return copyRanges(file.fd, { ranges, size, direct, algorithms, wrote, signal, time }, digests);
    }
    const followed = digests.follow(temporaryFile, ['sha3-384']);
    const syncing = syncedOnTheWay(() => files.syncReceived(file, 'datasync'));
    try {
      const wrote = async (end: number): Promise<void> => {
        await claim.wrote(end);
        await followed.grown(end);
        await syncing.wrote(end);
      };
      const found = await copyRanges(file.fd, { ranges, size, algorithms: ['sha256'], wrote, signal, time }, digests);
      const [also] = await both(followed.end(), syncing.end());
      return { ...found, ...also };
    } finally {
      followed.abandon();
      await syncing.idle();
    }
  }

  /** Takes in what is at hand. */
  async put(bytes: Uint8Array, id: string): Promise<TakenBlob> {
    if (bytes.length > smallBlob) throw new Error(`cannot put more than ${smallBlob} bytes at once`);
    return this.#take({ id, expected: bytes.length }, async ({ file, claim }) => {
      await writeWhole(file, [bytes], bytes.length, 0);
      await claim.wrote(bytes.length);
      await this.#parts.files.seal(file);
      const digest = (algorithm: string): string => createHash(algorithm).update(bytes).digest('hex');
      return { size: bytes.length, sha3_384: digest('sha3-384'), sha256: digest('sha256') };
    });
  }

  /** Removes temporary files that nobody receives any more; how many. */
  async sweep(isLive: IsLive): Promise<number> {
    const { contents, files } = this.#parts;
    let count = 0;
    for (const id of await readdir(contents.temporary)) {
      const path = join(contents.temporary, id);
      const changed = (): Promise<Date | undefined> => stat(path).then(({ mtime }) => mtime, unlessGone);
      if (this.#underWay.has(id) || (await isLive(id, changed))) continue;
      if (await removed(path)) count += 1;
    }
    if (count > 0) await files.syncFolder(contents.temporary);
    return count;
  }

  async #fill(
    source: AsyncIterable<Chunks>,
    { id, limit, expected, resume = 0, ownsChunks = false, wantsSha512, accept }: Receiving,
    { file, temporaryFile, claim }: Filling,
  ): Promise<TakenBlob> {
    const { contents, digests, files } = this.#parts;
    const followed = digests.follow(temporaryFile, ['sha3-384', 'sha256'], {
      small: (expected ?? Infinity) <= smallBlob,
    });
    const writer = fileWriter(file, {
      begin: resume,
      batch: () => Math.max(batch.smallest, Math.min(batch.largest, gatheredByAll / this.#underWay.size)),
      async wrote(size) {
        await claim.wrote(size);
        await followed.grown(size);
      },
      sync: () => files.syncReceived(file, 'datasync'),
      ownsChunks,
    });
    let leftTo = resume;
    const left = async (): Promise<void> => {
      await writer.written();
      if (writer.size > leftTo && contents.underWay !== undefined) {
        this.#left.add(id);
        await contents.underWay.leave(id, temporaryFile, leftTo);
      }
      leftTo = writer.size;
    };
    try {
      if (resume > 0) await followed.grown(resume);
      for await (const chunks of source) {
        if (writer.size + lengthOf(chunks) > limit) throw tooLarge(limit);
        await (chunks.length === 0 ? left() : writer.write(chunks));
      }
      await writer.end();
      const [found] = await both(followed.end(), files.seal(file));
      const more = wantsSha512?.() === true ? await digests.ofFile(temporaryFile, ['sha512']) : {};
      const taken = { size: writer.size, sha3_384: found['sha3-384'], sha256: found.sha256, ...more };
      accept?.(taken);
      return taken;
    } finally {
      followed.abandon();
      await writer.idle();
    }
  }

  /** Sees to it that the file is here which another host has begun. */
  async #find(id: string, temporaryFile: string, size: number): Promise<void> {
    const { underWay } = this.#parts.contents;
    if (underWay === undefined) return;
    const here = await stat(temporaryFile).catch(() => undefined);
    if ((here?.size ?? 0) < size) await underWay.fetch(id, temporaryFile, size);
  }

  /** What cannot be forgotten now is swept later. */
  async #forget(id: string, resume: number | undefined): Promise<void> {
    if (!this.#left.delete(id) && resume === undefined) return;
    await this.#parts.contents.underWay?.forget(id).catch(() => undefined);
  }

  /** Fills a temporary file, makes it durable and moves it to its place; on any error nothing is left. */
  async #take(
    { id, expected, resume, ...how }: Pick<Receiving, 'id' | 'expected' | 'resume'> & { direct?: boolean },
    fill: (filling: Filling) => Promise<TakenBlob>,
    settle = (file: string, sha3_384: string) => this.#parts.contents.settle(file, sha3_384),
  ): Promise<TakenBlob> {
    const { files, contents, room } = this.#parts;
    return this.#named(id, async (temporaryFile) => {
      const claim = await room.claim(expected, resume);
      try {
        if (resume !== undefined) await this.#find(id, temporaryFile, resume);
        const direct = how.direct === true && (await files.takesDirect(contents.temporary));
        const flags = (resume === undefined ? O_CREAT | O_EXCL : O_NOFOLLOW) | (direct ? O_DIRECT : 0);
        const file = await files.open(temporaryFile, O_WRONLY | flags, 0o600);
        try {
          if (resume !== undefined) await goOnFrom(file, resume);
          const taken = await fill({ file, temporaryFile, claim, direct }).finally(() => file.close());
          await settle(temporaryFile, taken.sha3_384);
          await this.#forget(id, resume);
          return taken;
        } catch (error) {
          if (error instanceof LeftToOthers && contents.underWay === undefined) throw error;
          if (!(error instanceof LeftToOthers)) await this.#forget(id, resume);
          await unlink(temporaryFile).catch((left: unknown) => {
            if (codeOf(left) !== 'ENOENT') throw new AggregateError([error, left], `cannot remove the upload ${id}`);
          });
          throw error;
        }
      } finally {
        await claim.release();
      }
    });
  }

  /** Gives what comes in a temporary file of its name; a full disk says so in words. */
  async #named<Result>(id: string, work: (temporaryFile: string) => Promise<Result>): Promise<Result> {
    const { files, contents } = this.#parts;
    if (!/^[A-Za-z0-9-]{1,64}$/.test(id)) throw new Error('cannot name an upload by anything but letters and digits');
    if (this.#underWay.has(id)) throw new Error(`cannot receive the upload ${id} twice at once`);
    if (files.broken) throw new Refusal('shutting-down', 'The store is stopping because its disk failed.');
    this.#underWay.add(id);
    try {
      return await work(join(contents.temporary, id));
    } catch (error) {
      throw isFull(error) ? noRoom() : error;
    } finally {
      this.#underWay.delete(id);
    }
  }
}

/** Takes off what a request that broke off, or a process that died, has left behind the end. */
async function goOnFrom(file: FileHandle, size: number): Promise<void> {
  const there = await file.stat();
  if (there.size < size) throw new Error(`cannot go on from ${size} bytes of an upload: ${there.size} are there`);
  await file.truncate(size);
}

/** Both results, once both have ended: an error of one never leaves the other running. */
async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}

function tooLarge(limit: number): Refusal {
  return new Refusal('request-too-large', `The file is larger than the ${limit} bytes this store accepts.`);
}

/** What somebody else has taken away meanwhile is as it should be; whatever else cannot be done is told. */
function unlessGone(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}

/** Whether it was there to be removed. */
async function removed(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    unlessGone(error);
    return false;
  }
}

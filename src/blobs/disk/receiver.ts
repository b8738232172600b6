// Receives content: writes a temporary file, hashes it as it grows, makes it durable and moves it to its path.
import { computeDigest } from '#domain/cryptography.ts';
import { constants } from 'node:fs';
import { readdir, rm, stat, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

import { notEnoughSpace } from '#domain/disk-full.ts';
import { Refusal } from '#domain/refusal.ts';
import {
  UploadHandedOver,
  lengthOf,
  type Blobs,
  type Chunks,
  type CopyInOptions,
  type UploadLiveness,
  type ReceivedBlob,
} from '../blobs.ts';
import { copyRanges, TruncatedSource } from '../copy-ranges.ts';
import type { FileRange, FileRanges } from '../file-ranges.ts';
import type { DigestPool } from '../digests.ts';
import type { UploadPlaces } from '../upload-places.ts';
import type { Space, SpaceClaim } from '../space.ts';
import type { DurableFiles } from './durable.ts';
import { codeOf, isFull } from './errors.ts';
import { GroupReceiver } from './group-receiver.ts';
import { createFileWriter, createStrideSync, writeWhole } from './writer.ts';

const { O_CREAT, O_DIRECT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
/** Size of one write: fewer, larger writes cost less. All uploads together buffer at most `gatheredByAll`. */
const batch = { smallest: 64 * 1024, largest: 1024 * 1024 };
const gatheredByAll = 64 * 1024 * 1024;
const smallBlob = 4 * 1024 * 1024;

/** The destination of received content. */
export interface BlobDestination {
  /** The folder of files that are being received. */
  readonly temporary: string;
  /** Moves a temporary file to its path, durably. */
  settle(temporaryFile: string, sha3_384: string): Promise<void>;
  /** Like `settle`, for one of many; it may become durable later. */
  settleWithOthers(temporaryFile: string, sha3_384: string): Promise<void>;
  /**
   * The path for content that is received in a group, and a callback for when it is there; if absent, each content is
   * moved by itself.
   */
  readonly together?: {
    placeFor(sha3_384: string): Promise<string>;
    settled(sha3_384: string, identity: string): void;
  };
  /** Makes unfinished uploads available to other hosts; if absent, all processes of the store see the temporary file. */
  readonly underWay?: UnfinishedUploadStore;
}

export interface UnfinishedUploadStore {
  /** Stores the bytes from this offset on. */
  leave(id: string, temporaryFile: string, from: number): Promise<void>;
  /** Creates the temporary file from the stored bytes, with at least `size` bytes. */
  fetch(id: string, temporaryFile: string, size: number): Promise<void>;
  /** Removes the stored bytes of an upload that will not continue. */
  forget(id: string): Promise<unknown>;
}

interface BlobReceiverParts {
  files: DurableFiles;
  contents: BlobDestination;
  digests: DigestPool;
  places: UploadPlaces;
  room: Space;
  /** Whether each file is read again immediately, to send it to S3, and should be in the page cache. */
  isSentOn?: boolean;
}

type BlobChunkSource = Parameters<Blobs['receive']>[0];
type BlobReceiverOptions = Parameters<Blobs['receive']>[1];

/** A temporary file that is being filled. */
interface TemporaryBlobFile {
  file: FileHandle;
  temporaryFile: string;
  claim: SpaceClaim;
  /** Whether writes bypass the page cache (direct I/O). */
  direct: boolean;
}

export class Receiver {
  readonly #parts: BlobReceiverParts;
  /** The uploads in progress. */
  readonly #underWay = new Set<string>();
  /** The uploads in progress with bytes that are stored for other hosts. */
  readonly #left = new Set<string>();
  readonly #together: GroupReceiver;

  constructor(parts: BlobReceiverParts) {
    this.#parts = parts;
    this.#together = new GroupReceiver({ ...parts, temporary: parts.contents.temporary });
  }

  async receive(source: BlobChunkSource, how: BlobReceiverOptions): Promise<ReceivedBlob> {
    this.#parts.room.mustFit(how.expected, how.resume);
    const place = await this.#parts.places.take(how.from);
    return this.#take(how, (filling) => this.#fill(place.watch(source), how, filling)).finally(() => place.leave());
  }

  /** Receives bytes from open files; the caller makes the paths of many contents durable together. */
  async copyIn(ranges: FileRanges, how: CopyInOptions): Promise<void> {
    const { id, expected, limit, wrong, signal } = how;
    const { size } = expected;
    if (size > limit) throw tooLarge(limit);
    if (size <= smallBlob && Array.isArray(ranges) && this.#parts.contents.together !== undefined)
      return this.#copyTogether(ranges, how, this.#parts.contents.together);
    // The digests of a single large file are computed by two threads, one of them reading from the page cache.
    const direct = (size <= smallBlob || this.#underWay.size > 0) && this.#parts.isSentOn !== true;
    const settle = (file: string, sha3_384: string) => this.#parts.contents.settleWithOthers(file, sha3_384);
    await this.#take(
      { id, expected: size, direct },
      async (filling) => {
        const digests = await this.#copy(ranges, { size, signal }, filling).catch((error: unknown) => {
          throw error instanceof TruncatedSource ? wrong() : error;
        });
        if (digests['sha3-384'] !== expected.sha3_384 || digests.sha256 !== expected.sha256) throw wrong();
        await this.#parts.files.syncReceived(filling.file, 'sync');
        return expected;
      },
      settle,
    );
  }

  /** Receives a small content as a member of a group. */
  async #copyTogether(
    ranges: readonly FileRange[],
    { id, expected: { size, sha3_384, sha256 }, wrong, signal }: CopyInOptions,
    { placeFor, settled }: NonNullable<BlobDestination['together']>,
  ): Promise<void> {
    const { files } = this.#parts;
    await this.#named(id, async (temporaryFile) => {
      const place = await placeFor(sha3_384);
      signal.throwIfAborted();
      const result = await this.#together
        .take({ temporaryFile, place, ranges, sha3_384, sha256 }, size)
        .catch(async (error: unknown) => {
          // The thread may have died and left its temporary file.
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
   * One thread copies. If a large file is received alone, a second thread follows it, so that two cores are used. The
   * file gets the time of receipt.
   */
  async #copy(
    ranges: FileRanges,
    { size, signal }: { size: number; signal: AbortSignal },
    { file, temporaryFile, claim, direct }: TemporaryBlobFile,
  ): Promise<{ 'sha3-384': string; sha256: string }> {
    const { digests, files } = this.#parts;
    const { time } = files;
    if (size <= smallBlob || direct) {
      const algorithms = ['sha3-384', 'sha256'] as const;
      const wrote = (end: number): Promise<void> => claim.wrote(end);
      return copyRanges(file.fd, { ranges, size, direct, algorithms, wrote, signal, time }, digests);
    }
    const followed = digests.follow(temporaryFile, ['sha3-384']);
    const syncing = createStrideSync(() => files.syncReceived(file, 'datasync'));
    try {
      const wrote = async (end: number): Promise<void> => {
        await claim.wrote(end);
        await followed.grown(end);
        await syncing.wrote(end);
      };
      const copyDigests = await copyRanges(
        file.fd,
        { ranges, size, algorithms: ['sha256'], wrote, signal, time },
        digests,
      );
      const [also] = await both(followed.end(), syncing.end());
      return { ...copyDigests, ...also };
    } finally {
      followed.abandon();
      await syncing.idle();
    }
  }

  /** Receives bytes that are in memory. */
  async put(bytes: Uint8Array, id: string): Promise<ReceivedBlob> {
    if (bytes.length > smallBlob) throw new Error(`cannot put more than ${smallBlob} bytes at once`);
    return this.#take({ id, expected: bytes.length }, async ({ file, claim }) => {
      await writeWhole(file, [bytes], bytes.length, 0);
      await claim.wrote(bytes.length);
      await this.#parts.files.seal(file);
      const [sha3_384, sha256] = [computeDigest('content sha3-384', bytes), computeDigest('content sha256', bytes)];
      return { size: bytes.length, sha3_384, sha256 };
    });
  }

  /** Removes temporary files of uploads that have ended; returns how many. */
  async sweep(isLive: UploadLiveness): Promise<number> {
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
    { id, limit, expected, resume = 0, ownsChunks = false, wantsSha512, accept }: BlobReceiverOptions,
    { file, temporaryFile, claim }: TemporaryBlobFile,
  ): Promise<ReceivedBlob> {
    const { contents, digests, files } = this.#parts;
    const followed = digests.follow(temporaryFile, ['sha3-384', 'sha256'], {
      small: (expected ?? Infinity) <= smallBlob,
    });
    const writer = createFileWriter(file, {
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
      const [fileDigests] = await both(followed.end(), files.seal(file));
      const more = wantsSha512?.() === true ? await digests.ofFile(temporaryFile, ['sha512']) : {};
      const taken = { size: writer.size, sha3_384: fileDigests['sha3-384'], sha256: fileDigests.sha256, ...more };
      accept?.(taken);
      return taken;
    } finally {
      followed.abandon();
      await writer.idle();
    }
  }

  /** Fetches the temporary file if another host began the upload. */
  async #find(id: string, temporaryFile: string, size: number): Promise<void> {
    const { underWay } = this.#parts.contents;
    if (underWay === undefined) return;
    const localStats = await stat(temporaryFile).catch(() => undefined);
    if ((localStats?.size ?? 0) < size) await underWay.fetch(id, temporaryFile, size);
  }

  /** If the bytes cannot be removed now, the sweep removes them later. */
  async #forget(id: string, resume: number | undefined): Promise<void> {
    if (!this.#left.delete(id) && resume === undefined) return;
    await this.#parts.contents.underWay?.forget(id).catch(() => undefined);
  }

  /** Fills a temporary file, makes it durable and moves it to its path. On any error nothing is left. */
  async #take(
    { id, expected, resume, ...how }: Pick<BlobReceiverOptions, 'id' | 'expected' | 'resume'> & { direct?: boolean },
    fill: (filling: TemporaryBlobFile) => Promise<ReceivedBlob>,
    settle = (file: string, sha3_384: string) => this.#parts.contents.settle(file, sha3_384),
  ): Promise<ReceivedBlob> {
    const { files, contents, room } = this.#parts;
    return this.#named(id, async (temporaryFile) => {
      const claim = await room.claim(expected, resume);
      try {
        if (resume !== undefined) await this.#find(id, temporaryFile, resume);
        const direct = how.direct === true && (await files.supportsDirect(contents.temporary));
        const flags = (resume === undefined ? O_CREAT | O_EXCL : O_NOFOLLOW) | (direct ? O_DIRECT : 0);
        const file = await files.open(temporaryFile, O_WRONLY | flags, 0o600);
        try {
          if (resume !== undefined) await truncateTo(file, resume);
          const taken = await fill({ file, temporaryFile, claim, direct }).finally(() => file.close());
          await settle(temporaryFile, taken.sha3_384);
          await this.#forget(id, resume);
          return taken;
        } catch (error) {
          if (error instanceof UploadHandedOver && contents.underWay === undefined) throw error;
          if (!(error instanceof UploadHandedOver)) await this.#forget(id, resume);
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

  /** Runs `work` with the temporary file of this upload, and turns an error of a full disk into a refusal. */
  async #named<Result>(id: string, work: (temporaryFile: string) => Promise<Result>): Promise<Result> {
    const { files, contents } = this.#parts;
    if (!/^[A-Za-z0-9-]{1,64}$/.test(id)) throw new Error('the name of an upload must be letters and digits');
    if (this.#underWay.has(id)) throw new Error(`cannot receive the upload ${id} twice at once`);
    if (files.broken) throw new Refusal('shutting-down', 'The store is stopping because its disk failed.');
    this.#underWay.add(id);
    try {
      return await work(join(contents.temporary, id));
    } catch (error) {
      throw isFull(error) ? notEnoughSpace() : error;
    } finally {
      this.#underWay.delete(id);
    }
  }
}

/** Truncates bytes that an interrupted request or a dead process has written beyond the acknowledged size. */
async function truncateTo(file: FileHandle, size: number): Promise<void> {
  const stats = await file.stat();
  if (stats.size < size) throw new Error(`cannot continue from ${size} bytes of an upload: ${stats.size} are there`);
  await file.truncate(size);
}

/** Returns both results when both have ended: if one fails, the other is not left running. */
async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}

function tooLarge(limit: number): Refusal {
  return new Refusal('request-too-large', `The file is larger than the ${limit} bytes this store accepts.`);
}

/** Another process may have removed the file already; any other error is thrown. */
function unlessGone(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}

/** Returns whether the file existed. */
async function removed(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    unlessGone(error);
    return false;
  }
}

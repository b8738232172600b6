// Stores blobs on a disk. Below `DIRECTORY/blobs`:
//
//   tmp/<id>            uploads being received
//   sha3/ab/ab12…       complete content under its sha3-384
//   quarantine/ab12…    corrupt content
//   leaving/ab12….<id>  content being removed
//   ballast             64 MiB to release on a full disk
//
// The order of steps makes an acknowledged blob survive a power cut: the bytes are made durable under a temporary name,
// then moved, then both directories are made durable. A failed fsync means that the kernel dropped bytes that it had
// promised to write; a second attempt would only seem to succeed, so the store stops.
import { computeDigest } from '#domain/cryptography.ts';
import { open as openFile, rename, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { notEnoughSpace } from '#domain/disk-full.ts';
import type { Now } from '#domain/clock.ts';
import { keepBallast, releaseBallast } from './ballast.ts';
import type { Blobs, LocalCopy } from './blobs.ts';
import type { DigestPool } from './digests.ts';
import { DiskContents, statBlob } from './disk/contents.ts';
import { DurableFiles } from './disk/durable.ts';
import { isFull } from './disk/errors.ts';
import { Receiver } from './disk/receiver.ts';
import { PieceMemory, SentContent } from './disk/sent-content.ts';
import { UploadPlaces, type PlaceOptions } from './upload-places.ts';
import { createProofs, type Proofs } from './proofs.ts';
import { soleProcessShares, type Shares } from './shares.ts';
import { SharedDiskSpace, diskBytes, freeBytes } from './space.ts';

export interface DiskBlobs extends Blobs {
  /** Creates the ballast if there is room for it; returns false if there is none. Call it when the store is ready. */
  keepBallast(): Promise<boolean>;
  /** Releases the ballast, so that a full disk accepts the writes that make room; returns false if it is already released. */
  releaseBallast(): Promise<boolean>;
  /** Releases the shares of this process; call it after the last upload. */
  close(): Promise<void>;
}

export interface DiskBlobsOptions {
  /** The data directory, which must exist. */
  directory: string;
  /** Bytes of the disk that uploads never use. */
  reserve: number;
  digests: DigestPool;
  /** Called if an fsync failed; the process must refuse further writes and exit. */
  fatal: (error: Error) => void;
  /** Called when content that was opened for reading did not match its digest. */
  damaged?: ((blob: { sha3_384: string; size: number }) => void) | undefined;
  /** Limits of concurrent uploads. */
  places?: Partial<Omit<PlaceOptions, 'shares'>> | undefined;
  /** The share of this process in disk space and upload places; if absent, no other process uses the store. */
  shares?: Shares;
  now?: Now;
  /** Opening and moving files, and the free space; a test passes its own to simulate a failing disk. */
  open?: typeof openFile;
  move?: typeof rename;
  freeOnDisk?: () => number;
}

export async function diskBlobs(options: DiskBlobsOptions): Promise<DiskBlobs> {
  const { directory, digests, fatal, now = () => new Date(), open = openFile, move = rename } = options;
  const { freeOnDisk = () => freeBytes(directory), shares = soleProcessShares, reserve } = options;
  const room = new SharedDiskSpace({ reserve, freeOnDisk, shares });
  const places = new UploadPlaces({ ...options.places, shares });
  const proofs = createProofs(digests, now);
  const files = new DurableFiles({ open, move, now, fatal });
  const contents = new DiskContents(directory, files, proofs);
  await contents.make(directory);
  const receiver = new Receiver({ files, contents, digests, places, room });
  const path = (sha3_384: string): string => contents.path(sha3_384);
  const quarantinePath = (sha3_384: string): string => contents.quarantinePath(sha3_384);

  return {
    receive: (source, how) => receiver.receive(source, how),
    copyIn: (ranges, how) => receiver.copyIn(ranges, how),
    placed: () => contents.placed(),
    put: (bytes, { id }) => receiver.put(bytes, id),
    makeLocalCopy: async (sha3_384) => lend(path(sha3_384)),
    stat: async (sha3_384) => statBlob(path(sha3_384), sha3_384),
    ...reading({ files, path, proofs, memory: new PieceMemory(), damaged: options.damaged }),
    async share(sha3_384) {
      await contents.shareWithGroup(sha3_384);
      const isIntact = await proofs.holds(sha3_384, path(sha3_384));
      const stored = isIntact ? await statBlob(path(sha3_384), sha3_384) : undefined;
      return stored && { size: stored.size, path: relative(contents.content, path(sha3_384)) };
    },
    list: (unread) => contents.list(unread),
    remove: async (sha3_384, { storedBefore } = {}) => contents.remove(sha3_384, storedBefore),
    quarantine: async (sha3_384) => contents.quarantine(sha3_384),
    quarantined: {
      makeLocalCopy: async (sha3_384) => lend(quarantinePath(sha3_384)),
      stat: async (sha3_384) => statBlob(quarantinePath(sha3_384), sha3_384),
      list: () => contents.listQuarantined(),
      async add(sha3_384, file) {
        const claim = await room.claim((await stat(file)).size);
        await contents
          .addToQuarantine(sha3_384, file)
          .catch((error: unknown) => Promise.reject(isFull(error) ? notEnoughSpace() : (error as Error)))
          .finally(() => claim.release());
      },
    },
    restoreQuarantined: async (sha3_384) => contents.restoreQuarantined(sha3_384),
    sweepTemporary: (isLive) => receiver.sweep(isLive),
    free: async () => Math.max(0, await room.free()),
    capacity: async () => diskBytes(directory),
    keepBallast: () => keepBallast(contents.root, room, (handle) => files.sync(handle)),
    releaseBallast: () => releaseBallast(contents.root),
    async close() {
      places.close();
      await shares.end();
    },
  };
}

/** On a disk the loan is the blob itself, and releasing it does nothing. */
const lend = (file: string): LocalCopy => ({ file, release: () => Promise.resolve() });

interface BlobReaderParts extends Pick<DiskBlobsOptions, 'damaged'> {
  files: DurableFiles;
  path: (sha3_384: string) => string;
  proofs: Proofs;
  memory: PieceMemory;
}

/** Verifies the content that is read. */
const reading = ({ files, path, proofs, memory, damaged }: BlobReaderParts): Pick<Blobs, 'prove' | 'open'> => ({
  async prove(sha3_384) {
    if (await proofs.holds(sha3_384, path(sha3_384))) return true;
    const stored = await statBlob(path(sha3_384), sha3_384);
    const isIntact = stored !== undefined && (await proofs.prove(sha3_384, path(sha3_384)));
    if (stored !== undefined && !isIntact) damaged?.(stored);
    return isIntact;
  },

  async open(sha3_384, range) {
    const handle = await files.openIfPresent(path(sha3_384));
    if (handle === undefined) return undefined;
    try {
      const { size } = await handle.stat();
      if (range !== undefined && !(0 <= range.start && range.start <= range.end && range.end < size)) {
        throw new RangeError(`cannot read bytes ${range.start} to ${range.end} of ${size}`);
      }
      const reportCorrupt = (): Error => {
        damaged?.({ sha3_384, size });
        return new Error(`cannot serve the blob ${sha3_384}: it is corrupt`);
      };
      if (range !== undefined && !(await proofs.prove(sha3_384, path(sha3_384)))) throw reportCorrupt();
      const check =
        range === undefined
          ? await createContentProof({ sha3_384, path: path(sha3_384), size, proofs, reportCorrupt })
          : passProof;
      const [start, end] = range === undefined ? [0, size] : [range.start, range.end + 1];
      return { size, stream: new SentContent({ file: handle, start, end, memory, proven: check }) };
    } catch (error) {
      await handle.close();
      throw error;
    }
  },
});

const passProof = (): Promise<void> => Promise.resolve();

/** Content up to this size is digested in the main thread. */
const maxInlineBytes = 64 * 1024;

/**
 * Verifies a whole content while it is sent: a small one in memory, a large one from its file, in a worker thread at
 * the same time, unless it has not changed since it was last verified.
 */
async function createContentProof(of: {
  sha3_384: string;
  path: string;
  size: number;
  proofs: Proofs;
  reportCorrupt: () => Error;
}): Promise<(all: Uint8Array | undefined) => Promise<void>> {
  const { sha3_384, path, size, proofs, reportCorrupt } = of;
  if (size <= maxInlineBytes) {
    return async (all) => {
      if (all === undefined || computeDigest('content sha3-384', all) !== sha3_384) throw reportCorrupt();
    };
  }
  if (await proofs.holds(sha3_384, path)) return passProof;
  const proving = proofs.prove(sha3_384, path);
  // The sender gets a failure at the end; until then it must not count as an unhandled rejection.
  proving.catch(() => undefined);
  return async () => {
    if (!(await proving)) throw reportCorrupt();
  };
}

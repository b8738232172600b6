// Stores blobs in S3. In the bucket, below the prefix of the store:
//
//   larder-store.json   the marker: which store this prefix belongs to
//   sha3/ab/ab12…       complete content under its sha3-384
//   quarantine/ab12…    corrupt content
//   arriving/<id>/…     received bytes of an upload that any host may continue
//   trial/<id>          written, read and removed to check the permissions
//
// The data directory has uploads being received and local copies in `blobs/tmp`. Content is acknowledged only when the
// server has all of it: it has verified every part against its MD5, the object has the right size, and no process is
// about to remove it (s3/removals.ts).
import { randomUUID } from '#domain/cryptography.ts';
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import { notEnoughSpace } from '#domain/disk-full.ts';
import { after, days, minutes, seconds } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { keepBallast, releaseBallast } from './ballast.ts';
import type { DiskBlobs, DiskBlobsOptions } from './disk.ts';
import { DurableFiles } from './disk/durable.ts';
import { isFull } from './disk/errors.ts';
import { Receiver } from './disk/receiver.ts';
import type { LocalCopy } from './blobs.ts';
import { UploadPlaces } from './upload-places.ts';
import type { BucketAccess, BucketAddress } from '#contract/bucket-address.ts';
import { readBody } from './s3/read-body.ts';
import { S3Bucket } from './s3/bucket.ts';
import { quarantineKey, contentKey, S3Contents } from './s3/contents.ts';
import { isThrottled, whyNot } from './s3/errors.ts';
import { markerKey, requireMarkerOrReason, openMarker, tryWriting, type BucketOwner } from './s3/marker.ts';
import type { S3Sizes } from './s3/parts.ts';
import { S3ContentReader } from './s3/content-reader.ts';
import { createLocalRemovals, type Removals } from './s3/removals.ts';
import { runForCaller, type S3Traffic } from './s3/requests.ts';
import { soleProcessShares } from './shares.ts';
import { diskBytes, SharedDiskSpace, freeBytes, type Space } from './space.ts';

export interface S3Blobs extends DiskBlobs {
  traffic(): S3Traffic;
  /** The time of the server, to a second. Fails within a few seconds if the server does not answer, or if it lacks the marker. */
  clock(): Promise<Date>;
  /** Why the clock could not be read, as a sentence for the administrator. */
  whyNot(error: unknown): string;
  /** Problems of a server that answers, as a sentence for the administrator. */
  trouble(): string | undefined;
}

/** The data directory holds content on its way to S3; its disk and the upload places are managed as in a store on a disk. */
export interface S3BlobsOptions extends BucketOwner, Omit<DiskBlobsOptions, 'open' | 'move' | 'freeOnDisk'> {
  address: BucketAddress;
  access: BucketAccess;
  /** How processes coordinate removals; if absent, no other process uses this store. */
  removals?: Removals;
  /** Whether to check first that the bucket is writable. */
  tries?: boolean;
  sizes?: Partial<S3Sizes>;
}

/** The maximum duration of an upload in parts. */
const maxUploadAgeMs = days(1);

/** Throws `BucketError` if the prefix cannot be used as it is. */
export async function s3Blobs(options: S3BlobsOptions): Promise<S3Blobs> {
  const { address, access, directory, digests, fatal } = options;
  const { now = () => new Date(), removals = createLocalRemovals() } = options;
  const { shares = soleProcessShares, reserve, sizes = {} } = options;
  const bucket = await S3Bucket.connect(address, access, { marker: markerKey, sizes });
  let isMd5: boolean;
  try {
    ({ isMd5 } = await openMarker(bucket, options));
    if (options.tries === true) await tryWriting(bucket);
  } catch (error) {
    bucket.close();
    throw error;
  }
  const root = join(directory, 'blobs');
  for (const folder of [root, join(root, 'tmp')]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
  }
  const room = new SharedDiskSpace({ reserve, freeOnDisk: () => freeBytes(directory), shares });
  const places = new UploadPlaces({ ...options.places, shares });
  const files = new DurableFiles({ open, move: rename, now, fatal });
  const reading = new S3ContentReader({ bucket, now, damaged: options.damaged });
  const remember: S3ContentReader['remember'] = (sha3_384, object) => reading.remember(sha3_384, object);
  const contents = new S3Contents(directory, { bucket, removals, now, isMd5, remember });
  const receiver = new Receiver({ files, contents, digests, places, room, isSentOn: true });
  const lend = (key: string): Promise<LocalCopy> => lent(contents, bucket, room, key);

  return {
    receive: (source, how) => receiver.receive(source, how),
    copyIn: (ranges, how) => receiver.copyIn(ranges, how),
    // Each content is durable at its key when it has been received.
    placed: () => Promise.resolve(),
    put: (bytes, { id }) => receiver.put(bytes, id),
    stat: async (sha3_384) => contents.stat(sha3_384),
    open: async (sha3_384, range) => reading.open(sha3_384, range),
    addressOf: async (sha3_384, fileName) => contents.addressOf(sha3_384, fileName),
    prove: async (sha3_384) => reading.prove(sha3_384),
    makeLocalCopy: async (sha3_384) => lend(contentKey(sha3_384)),
    list: () => contents.list(),
    remove: async (sha3_384, { storedBefore } = {}) => contents.remove(sha3_384, storedBefore),
    quarantine: async (sha3_384) => contents.quarantine(sha3_384),
    quarantined: quarantine(contents, lend),
    restoreQuarantined: async (sha3_384) => contents.restoreQuarantined(sha3_384),
    async sweepTemporary(isLive) {
      const [swept, before] = [await receiver.sweep(isLive), after(now(), -maxUploadAgeMs)];
      return swept + (await contents.underWay.sweep(before)) + (await runForCaller(() => bucket.abandon(before)));
    },
    free: async () => Math.max(0, await room.free()),
    capacity: async () => diskBytes(directory),
    keepBallast: () => keepBallast(root, room, (handle) => files.sync(handle)),
    releaseBallast: () => releaseBallast(root),
    traffic: () => bucket.traffic,
    ...watching(bucket),
    async close() {
      places.close();
      bucket.close();
      await shares.end();
    },
  };
}

/** How often to check whether a server that refused writes accepts them again, and how long to report that it was slow. */
const [retrial, throttleNoticeMs] = [seconds(5), minutes(1)];

/** The state of the server, for callers that ask repeatedly. */
function watching(bucket: S3Bucket): Pick<S3Blobs, 'clock' | 'whyNot' | 'trouble'> {
  const { requests, address } = bucket;
  let tried = -Infinity;
  return {
    async clock() {
      const now = performance.now();
      if (requests.forbidden !== undefined && now - tried >= retrial) {
        tried = now;
        // A successful write clears the flag.
        tryWriting(bucket).catch(() => undefined);
      }
      return runForCaller(async () => {
        try {
          return (await requireMarkerOrReason(bucket)).at ?? new Date();
        } catch (error) {
          // The server answers.
          if (isThrottled(error)) return new Date();
          throw error;
        }
      });
    },
    whyNot: (error) => whyNot(address, error instanceof Refusal ? error.cause : error),
    trouble() {
      if (requests.forbidden !== undefined) {
        return `The bucket of the store refuses changes: ${whyNot(address, requests.forbidden)}. Until this is fixed, uploads fail and stored files are served.`;
      }
      if (performance.now() - requests.throttled > throttleNoticeMs) return undefined;
      return 'The server of the bucket has refused requests within the last minute because there were too many (503 SlowDown). Allow more requests on that server, or reduce the number of simultaneous clients.';
    },
  };
}

const quarantine = (contents: S3Contents, lend: (key: string) => Promise<LocalCopy>): S3Blobs['quarantined'] => ({
  makeLocalCopy: async (sha3_384) => lend(quarantineKey(sha3_384)),
  stat: async (sha3_384) => contents.stat(sha3_384, quarantineKey),
  list: () => contents.list('quarantine/', quarantineKey),
  add: async (sha3_384, file) => contents.addToQuarantine(sha3_384, file),
});

/** Copies an object to a local file after reserving space for it. If the object does not exist, neither does the file. */
async function lent(contents: S3Contents, bucket: S3Bucket, room: Space, key: string): Promise<LocalCopy> {
  const file = join(contents.temporary, `lent-${randomUUID()}`);
  const opened = await runForCaller(async () =>
    (await contents.inspect(key)) === undefined ? undefined : bucket.read(key),
  );
  if (opened === undefined) return { file, release: () => Promise.resolve() };
  const claim = await room.claim(opened.object.size).catch((error: unknown) => {
    opened.body.destroy();
    throw error;
  });
  const release = async (): Promise<void> => {
    await rm(file, { force: true });
    await claim.release();
  };
  try {
    const { object, body } = opened;
    const to = createWriteStream(file, { flags: 'wx', mode: 0o600 });
    await pipeline(readBody(bucket.requests, body, object.size), to);
    await claim.wrote(opened.object.size);
    return { file, release };
  } catch (error) {
    await release();
    throw isFull(error) ? notEnoughSpace() : error;
  }
}

// The backups of a store in a bucket, on the S3 server of its blobs. An archive is made and verified on the local disk, and then sent as one
// object: an object that is not complete has no name, so no half written one is ever listed.
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { S3Bucket } from '#blobs/s3/bucket.ts';
import { whyNot } from '#blobs/s3/errors.ts';
import { foreignBucket, markerKey, ownMarker, writeMarker } from '#blobs/s3/marker.ts';
import { readBody } from '#blobs/s3/read-body.ts';
import { formatBucketAddress, type BucketAccess, type BucketAddress } from '#contract/bucket-address.ts';
import { after, days, type Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { onDisk } from '#files/durable-streams.ts';
import type { ArchiveSource } from '#files/tar-archive.ts';
import { isBackupName, PlaceUnavailable, type BackupPlace, type BackupStart } from './place.ts';
import { readTarFrom } from './tar.ts';
import { openTarget, type BackupTarget } from './target.ts';

/** The maximum duration of an upload in parts; an older one was interrupted. */
const maxUploadAgeMs = days(1);

export interface BucketPlaceOptions {
  address: BucketAddress;
  access: BucketAccess;
  /** The id of the store that writes there; undefined if the bucket is only read. */
  store: string | undefined;
  now: Now;
}

/** Opens the bucket. Throws PlaceUnavailable if it cannot be used, or if it belongs to another store. */
export async function bucketPlace({ address, access, store, now }: BucketPlaceOptions): Promise<BackupPlace> {
  const name = formatBucketAddress(address);
  const bucket = await S3Bucket.connect(address, access, { marker: markerKey });
  const ask = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw explain(address, error);
    }
  };
  try {
    if (store !== undefined) await ask(() => claim(bucket, store));
  } catch (error) {
    bucket.close();
    throw error;
  }
  return {
    name,
    asCaller: async (work) => work(),
    list: () =>
      ask(async () => {
        const files: string[] = [];
        for await (const { key } of bucket.list('larder-')) if (isBackupName(key)) files.push(`${name}/${key}`);
        return files.sort().reverse();
      }),
    has: (file) => ask(async () => (await bucket.inspect(basename(file))) !== undefined),
    async open(file, part = 'whole') {
      const object = await ask(() => bucket.inspect(basename(file)));
      if (object === undefined) throw new PlaceUnavailable(`${file} is not there any more; run the command again`);
      const source = sourceOf(bucket, { key: basename(file), etag: object.etag }, ask);
      return readTarFrom(source, { file, size: object.size }, part);
    },
    roomFor: (workspace) => workspace,
    begin: (file, start) => beginObject(bucket, { file, ...start }, ask),
    async remove(files) {
      for (const file of files)
        await ask(async () => {
          const object = await bucket.inspect(basename(file));
          if (object !== undefined) await bucket.remove(basename(file), object);
        });
      await ask(() => bucket.abandon(after(now(), -maxUploadAgeMs)));
    },
    close() {
      bucket.close();
    },
  };
}

/** Marks the prefix as the place of this store. Another store may do the same at this moment. */
async function claim(bucket: S3Bucket, store: string): Promise<void> {
  const marker = (await ownMarker(bucket, store)) ?? (await writeMarker(bucket, store));
  if (marker.store !== store) throw foreignBucket(bucket);
}

type RunRequest = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Reads one version of an object, piece by piece. */
const sourceOf = (bucket: S3Bucket, { key, etag }: { key: string; etag: string }, ask: RunRequest): ArchiveSource => ({
  read: (into, offset, length, position) =>
    ask(async () => {
      const opened = await bucket.read(key, { start: position, end: position + length - 1, etag });
      if (opened === undefined) throw new PlaceUnavailable(`${key} was removed while it was read`);
      let bytesRead = 0;
      for await (const piece of readBody(bucket.requests, opened.body, length))
        bytesRead += Buffer.from(piece).copy(into, offset + bytesRead);
      return { bytesRead };
    }),
  close: () => Promise.resolve(),
});

/** An archive in the workspace, which is sent when it is complete and verified. */
async function beginObject(
  bucket: S3Bucket,
  { file, workspace, siteKey, signal }: BackupStart & { file: string },
  ask: RunRequest,
): Promise<BackupTarget> {
  const { partial, handle, discard } = await openTarget(join(workspace, basename(file)), siteKey, onDisk);
  return {
    partial,
    handle,
    discard,
    async place() {
      await handle.close();
      const key = basename(file);
      const since = performance.now();
      await ask(async () => {
        // The server checks the MD5 of each part.
        const sent = await bucket.putFile(key, partial, {}, { signal });
        const object = await bucket.inspect(key, { since });
        if (object?.size !== sent.size || object.etag !== sent.etag)
          throw new PlaceUnavailable(`the server has stored another ${file} than it was sent`);
      }).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw error;
      });
      await rm(partial);
    },
  };
}

/** The error as one sentence about the bucket. */
function explain(address: BucketAddress, error: unknown): unknown {
  if (error instanceof PlaceUnavailable) return error;
  const cause = error instanceof Refusal ? error.cause : error;
  return new PlaceUnavailable(`cannot use ${formatBucketAddress(address)}: ${whyNot(address, cause)}`, { cause });
}

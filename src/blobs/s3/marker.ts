// The marker: an object that says which store a prefix belongs to. It keeps a store from writing into another store's
// bucket, and distinguishes a bucket that lost everything from a new store.
import { createDigest, randomUUID } from '#domain/cryptography.ts';
import { seconds } from '#domain/clock.ts';
import { formatBucketAddress } from '#contract/bucket-address.ts';
import type { S3Bucket, BucketObject } from './bucket.ts';
import { cannotOpen, BucketError, statusOf } from './errors.ts';

export const markerKey = 'larder-store.json';

/** Does not change during the life of the store, and contains no secret. */
const textOf = (store: string): Buffer => Buffer.from(`${JSON.stringify({ larder: 1, store })}\n`);
/** Timeout of one response. */
const responseTimeoutMs = seconds(4);
/** More than any marker has. */
const maxMarkerBytes = 1024;

export interface BucketOwner {
  /** The id of the store, unique among all stores. */
  store: string;
  /** Whether the store has no content yet and may claim a prefix without a marker. */
  isNew: () => Promise<boolean>;
}

/**
 * Checks that the prefix belongs to this store, and claims an empty one if the store is new. Throws `BucketError`. Returns
 * whether this server uses the MD5 of the bytes as ETag.
 */
export async function openMarker(bucket: S3Bucket, { store, isNew }: BucketOwner): Promise<{ isMd5: boolean }> {
  try {
    const marker = (await ownMarker(bucket, store)) ?? (await makeMarker(bucket, store, isNew));
    if (marker.store !== store) throw foreignBucket(bucket);
    bucket.ownMarker = { store, etag: marker.etag };
    return marker;
  } catch (error) {
    throw cannotOpen(bucket.address, error);
  }
}

/**
 * Like `openMarker`, but writes nothing. Returns true if the prefix has the marker of this store, and false if the next
 * start of the server will write it. Throws `BucketError` if this store cannot use the prefix.
 */
export async function isMarked(bucket: S3Bucket, { store, isNew }: BucketOwner): Promise<boolean> {
  try {
    if ((await ownMarker(bucket, store)) !== undefined) return true;
    await refuseUnlessFree(bucket, isNew);
    return false;
  } catch (error) {
    throw cannotOpen(bucket.address, error);
  }
}

/** The marker of this store, if the prefix has one. */
export async function ownMarker(bucket: S3Bucket, store: string) {
  const marker = await readMarker(bucket);
  if (marker !== undefined && marker.store !== store) throw foreignBucket(bucket);
  return marker;
}

/** The store in the marker; undefined if there is no marker. */
async function readMarker(bucket: S3Bucket): Promise<{ store: string; etag: string; isMd5: boolean } | undefined> {
  const opened = await bucket.read(markerKey);
  if (opened === undefined) return undefined;
  const { object, body } = opened;
  if (object.size > maxMarkerBytes) {
    body.destroy();
    throw notLarders(bucket);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk as Uint8Array);
  const text = Buffer.concat(chunks);
  const store = storeIn(text);
  if (store === undefined) throw notLarders(bucket);
  const { etag } = object;
  return { store, etag, isMd5: createDigest('S3 transmission').update(text).digest('hex') === etag };
}

function storeIn(text: Buffer): string | undefined {
  try {
    const content = JSON.parse(text.toString()) as { larder?: unknown; store?: unknown } | null;
    return content?.larder === 1 && typeof content.store === 'string' ? content.store : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Checks a prefix without a marker. Refuses it if it has objects, which may belong to another program. Refuses it if it is empty and the store
 * has content, because then the content is in another place.
 */
export async function refuseUnlessFree(bucket: S3Bucket, isNew: BucketOwner['isNew']): Promise<void> {
  for await (const { key } of bucket.list('')) {
    throw bucketError(
      bucket,
      `it contains objects already (${key}), but no marker of larder; name an unused prefix or, if these are the files of this store, run 'larder bucket accept'`,
    );
  }
  if (!(await isNew())) {
    throw bucketError(
      bucket,
      "it is empty, but this store has content already; move the content there with 'larder move', restore it from a backup with 'larder restore FILE --missing', or name the right bucket",
    );
  }
}

async function makeMarker(bucket: S3Bucket, store: string, isNew: BucketOwner['isNew']) {
  await refuseUnlessFree(bucket, isNew);
  return writeMarker(bucket, store);
}

/** Writes the marker and returns the stored one: another store may have written its own at the same moment. */
export async function writeMarker(bucket: S3Bucket, store: string) {
  await bucket.put(markerKey, textOf(store));
  const marker = await readMarker(bucket);
  if (marker === undefined) throw bucketError(bucket, 'an object that was written there is missing afterwards');
  return marker;
}

const notLarders = (bucket: S3Bucket): BucketError =>
  bucketError(
    bucket,
    `its ${markerKey} is not a marker of larder; check that object, remove it, and run 'larder bucket accept'`,
  );
export const foreignBucket = (bucket: S3Bucket): BucketError =>
  bucketError(bucket, 'it belongs to another store; give this one a prefix of its own');
export const bucketError = (bucket: S3Bucket, reason: string): BucketError =>
  new BucketError(`cannot open ${formatBucketAddress(bucket.address)}: ${reason}`);

/** Writes, reads and removes a small object, as a store does during operation; throws `BucketError`. */
export async function tryWriting(bucket: S3Bucket): Promise<void> {
  const key = `trial/${randomUUID()}`;
  const bytes = Buffer.from('larder tries whether it may write here\n');
  try {
    await bucket.put(key, bytes);
    const object = await bucket.inspect(key);
    if (object?.size !== bytes.length)
      throw bucketError(bucket, 'an object that was written there is missing afterwards');
    await bucket.remove(key, object);
    if ((await bucket.inspect(key)) !== undefined)
      throw bucketError(bucket, 'an object that was removed there still exists afterwards');
  } catch (error) {
    throw cannotOpen(bucket.address, error);
  }
}

/**
 * Believes that an object does not exist, or throws: if the marker cannot be read, the absence of another object proves
 * nothing.
 */
export async function confirmAbsence(bucket: S3Bucket): Promise<void> {
  await requireMarker(bucket);
}

export async function requireMarker(bucket: S3Bucket, how?: { signal: AbortSignal }): Promise<BucketObject> {
  const object = await bucket.inspect(markerKey, how);
  bucket.isMarked = object !== undefined;
  if (object === undefined) {
    throw new BucketError(
      `the marker of the store, ${markerKey}, is not in ${formatBucketAddress(bucket.address)} any more, so objects were removed there; if the files are still there, run 'larder bucket accept'; if the bucket is empty, restore them from a backup with 'larder restore FILE --missing'`,
    );
  }
  await refuseMarkerOfOthers(bucket, object);
  return object;
}

/** A marker with a new ETag may belong to another store, if a store was restored or renamed below a prefix in use. */
async function refuseMarkerOfOthers(bucket: S3Bucket, { etag }: BucketObject): Promise<void> {
  const own = bucket.ownMarker;
  if (own === undefined || own.etag === etag) return;
  bucket.isMarked = false;
  const marker = await ownMarker(bucket, own.store);
  bucket.isMarked = marker !== undefined;
  if (marker !== undefined) bucket.ownMarker = { store: own.store, etag: marker.etag };
}

/** Like `requireMarker`, but if the server refuses, the error has the reason: a response to HEAD has no body, one to GET has. */
export async function requireMarkerOrReason(bucket: S3Bucket): Promise<BucketObject> {
  try {
    return await requireMarker(bucket, { signal: AbortSignal.timeout(responseTimeoutMs) });
  } catch (error) {
    if (statusOf(error) === 0) throw error;
    (await bucket.read(markerKey))?.body.destroy();
    throw error;
  }
}

/** Whether an error says that the object has changed. */
export const isOther = (error: unknown): boolean => statusOf(error) === 412;

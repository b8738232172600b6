// The marker: an object that says which store a prefix belongs to. It keeps a store from writing into another store's
// bucket, and distinguishes a bucket that lost everything from a new store.
import { createHash, randomUUID } from 'node:crypto';

import { seconds } from '#domain/clock.ts';
import { placeOf } from './address.ts';
import type { Bucket, Found } from './bucket.ts';
import { cannotOpen, NoBucket, statusOf } from './errors.ts';

export const markerKey = 'larder-store.json';

/** Does not change during the life of the store, and contains no secret. */
const textOf = (store: string): Buffer => Buffer.from(`${JSON.stringify({ larder: 1, store })}\n`);
/** Timeout of one response. */
const patience = seconds(4);
/** More than any marker has. */
const longest = 1024;

export interface Opening {
  /** The id of the store, unique among all stores. */
  store: string;
  /** Whether the store has no content yet and may claim a prefix without a marker. */
  isNew: () => Promise<boolean>;
}

/**
 * Checks that the prefix belongs to this store, and claims an empty one if the store is new. Throws `NoBucket`. Returns
 * whether this server uses the MD5 of the bytes as ETag.
 */
export async function openMarker(bucket: Bucket, { store, isNew }: Opening): Promise<{ isMd5: boolean }> {
  try {
    const found = (await ownMarker(bucket, store)) ?? (await makeMarker(bucket, store, isNew));
    if (found.store !== store) throw notOurs(bucket);
    bucket.ownMarker = { store, etag: found.etag };
    return found;
  } catch (error) {
    throw cannotOpen(bucket.address, error);
  }
}

/**
 * Like `openMarker`, but writes nothing: true if the prefix is marked, false if it will be when the store is first
 * served. Throws `NoBucket` if it cannot be.
 */
export async function isMarked(bucket: Bucket, { store, isNew }: Opening): Promise<boolean> {
  try {
    if ((await ownMarker(bucket, store)) !== undefined) return true;
    await refuseUnlessFree(bucket, isNew);
    return false;
  } catch (error) {
    throw cannotOpen(bucket.address, error);
  }
}

/** The marker of this store, if the prefix has one. */
export async function ownMarker(bucket: Bucket, store: string) {
  const found = await readMarker(bucket);
  if (found !== undefined && found.store !== store) throw notOurs(bucket);
  return found;
}

/** The store in the marker; undefined if there is no marker. */
async function readMarker(bucket: Bucket): Promise<{ store: string; etag: string; isMd5: boolean } | undefined> {
  const there = await bucket.read(markerKey);
  if (there === undefined) return undefined;
  const { found, body } = there;
  if (found.size > longest) {
    body.destroy();
    throw notLarders(bucket);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk as Uint8Array);
  const text = Buffer.concat(chunks);
  const store = storeIn(text);
  if (store === undefined) throw notLarders(bucket);
  const { etag } = found;
  return { store, etag, isMd5: createHash('md5').update(text).digest('hex') === etag };
}

function storeIn(text: Buffer): string | undefined {
  try {
    const said = JSON.parse(text.toString()) as { larder?: unknown; store?: unknown } | null;
    return said?.larder === 1 && typeof said.store === 'string' ? said.store : undefined;
  } catch {
    return undefined;
  }
}

/** Refuses a prefix that has objects, or an empty one if the store already has content. */
export async function refuseUnlessFree(bucket: Bucket, isNew: Opening['isNew']): Promise<void> {
  for await (const { key } of bucket.list('')) {
    throw not(
      bucket,
      `it has things in it already (${key}), and no marker of larder; name a prefix that nobody uses or, if these are the files of this store, have 'larder bucket accept' look them over`,
    );
  }
  if (!(await isNew())) {
    throw not(
      bucket,
      "it is empty, and this store has content already; move that there with 'larder move', fetch it back from a backup with 'larder restore FILE --missing', or name the right place",
    );
  }
}

async function makeMarker(bucket: Bucket, store: string, isNew: Opening['isNew']) {
  await refuseUnlessFree(bucket, isNew);
  return writeMarker(bucket, store);
}

/** Writes the marker and returns the stored one: another store may have written its own at the same moment. */
export async function writeMarker(bucket: Bucket, store: string) {
  await bucket.put(markerKey, textOf(store));
  const found = await readMarker(bucket);
  if (found === undefined) throw not(bucket, 'what is written there is not there afterwards');
  return found;
}

const notLarders = (bucket: Bucket): NoBucket =>
  not(bucket, `its ${markerKey} is none of larder's; see what it is, remove it, and run 'larder bucket accept'`);
export const notOurs = (bucket: Bucket): NoBucket =>
  not(bucket, 'it belongs to another store; give this one a prefix of its own');
export const not = (bucket: Bucket, why: string): NoBucket =>
  new NoBucket(`cannot open ${placeOf(bucket.address)}: ${why}`);

/** Writes, reads and removes a small object, as a store does during operation; throws `NoBucket`. */
export async function tryWriting(bucket: Bucket): Promise<void> {
  const key = `trial/${randomUUID()}`;
  const bytes = Buffer.from('larder tries whether it may write here\n');
  try {
    await bucket.put(key, bytes);
    const found = await bucket.look(key);
    if (found?.size !== bytes.length) throw not(bucket, 'what is written there is not there afterwards');
    await bucket.remove(key, found);
    if ((await bucket.look(key)) !== undefined) throw not(bucket, 'what is removed there is there afterwards');
  } catch (error) {
    throw cannotOpen(bucket.address, error);
  }
}

/**
 * Believes that an object does not exist, or throws: if the marker cannot be read, the absence of another object proves
 * nothing.
 */
export async function believeAbsence(bucket: Bucket): Promise<void> {
  await mustFindMarker(bucket);
}

export async function mustFindMarker(bucket: Bucket, how?: { signal: AbortSignal }): Promise<Found> {
  const found = await bucket.look(markerKey, how);
  bucket.isMarked = found !== undefined;
  if (found === undefined) {
    throw new NoBucket(
      `the marker of the store, ${markerKey}, is not in ${placeOf(bucket.address)} any more, so somebody has removed what was there; if the files are still there, run 'larder bucket accept', and if it is empty, fetch them from a backup with 'larder restore FILE --missing'`,
    );
  }
  await refuseMarkerOfOthers(bucket, found);
  return found;
}

/** A marker with a new ETag may belong to another store, if a store was restored or renamed below a prefix in use. */
async function refuseMarkerOfOthers(bucket: Bucket, { etag }: Found): Promise<void> {
  const own = bucket.ownMarker;
  if (own === undefined || own.etag === etag) return;
  bucket.isMarked = false;
  const found = await ownMarker(bucket, own.store);
  bucket.isMarked = found !== undefined;
  if (found !== undefined) bucket.ownMarker = { store: own.store, etag: found.etag };
}

/** Like `mustFindMarker`, but if the server refuses, the error has the reason: a response to HEAD has no body, one to GET has. */
export async function mustFindMarkerOrWhy(bucket: Bucket): Promise<Found> {
  try {
    return await mustFindMarker(bucket, { signal: AbortSignal.timeout(patience) });
  } catch (error) {
    if (statusOf(error) === 0) throw error;
    (await bucket.read(markerKey))?.body.destroy();
    throw error;
  }
}

/** Whether an error says that the object has changed. */
export const isOther = (error: unknown): boolean => statusOf(error) === 412;

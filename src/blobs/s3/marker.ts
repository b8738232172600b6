// The marker: an object that says which store the others belong to. So nobody writes into the bucket of somebody else, and a
// bucket that lost everything is not taken for a store that never had anything.
import { createHash, randomUUID } from 'node:crypto';

import { seconds } from '#domain/clock.ts';
import { placeOf } from './address.ts';
import type { Bucket, Found } from './bucket.ts';
import { cannotOpen, NoBucket, statusOf } from './errors.ts';

export const markerKey = 'larder-store.json';

/** Holds for as long as the store does, and names no secret. */
const textOf = (store: string): Buffer => Buffer.from(`${JSON.stringify({ larder: 1, store })}\n`);
/** How long it is waited for one answer. */
const patience = seconds(4);
/** More than any marker has. */
const longest = 1024;

export interface Opening {
  /** What the store is called, of all stores. */
  store: string;
  /** Whether the store has no content yet, so that a place without a marker may become its own. */
  isNew: () => Promise<boolean>;
}

/**
 * Looks whether the place is that of this store, and makes an empty one its own if the store is new; throws `NoBucket`. Tells
 * whether this server calls an object by the MD5 of its bytes.
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

/** The same, and marks nothing: whether it is marked, or will be when the store is first served; throws `NoBucket` where it cannot be. */
export async function isMarked(bucket: Bucket, { store, isNew }: Opening): Promise<boolean> {
  try {
    if ((await ownMarker(bucket, store)) !== undefined) return true;
    await refuseUnlessFree(bucket, isNew);
    return false;
  } catch (error) {
    throw cannotOpen(bucket.address, error);
  }
}

/** The marker of this store, if the place has any. */
export async function ownMarker(bucket: Bucket, store: string) {
  const found = await readMarker(bucket);
  if (found !== undefined && found.store !== store) throw notOurs(bucket);
  return found;
}

/** Whose the place is; nothing where nobody has marked it. */
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

/** Refuses a place that has something in it, or is not where a store can begin. */
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

/** Whose the place is then: somebody else may have marked it at the same moment. */
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

/** Writes, reads and removes a small object, as a store does all the time; throws `NoBucket`. */
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

/** Believes that an object is not there, or throws: where the marker cannot be read, nothing is known of any other. */
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

/** A marker that is another object than the one that was read may be another store's: a place restored or named anew below one that serves. */
async function refuseMarkerOfOthers(bucket: Bucket, { etag }: Found): Promise<void> {
  const own = bucket.ownMarker;
  if (own === undefined || own.etag === etag) return;
  bucket.isMarked = false;
  const found = await ownMarker(bucket, own.store);
  bucket.isMarked = found !== undefined;
  if (found !== undefined) bucket.ownMarker = { store: own.store, etag: found.etag };
}

/** The same, and where the server refuses it the error says why: an answer to HEAD has no words, and one to GET has. */
export async function mustFindMarkerOrWhy(bucket: Bucket): Promise<Found> {
  try {
    return await mustFindMarker(bucket, { signal: AbortSignal.timeout(patience) });
  } catch (error) {
    if (statusOf(error) === 0) throw error;
    (await bucket.read(markerKey))?.body.destroy();
    throw error;
  }
}

/** Whether an error says that the object is another one by now. */
export const isOther = (error: unknown): boolean => statusOf(error) === 412;

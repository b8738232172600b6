// A place that has lost its marker alone: what lies there tells whether it is the store's, and it is marked again.
import type { BucketAccess, BucketAddress } from './address.ts';
import { Bucket } from './bucket.ts';
import { placeInQuarantine, placeOfContent } from './contents.ts';
import { cannotOpen } from './errors.ts';
import { markerKey, not, notOurs, ownMarker, refuseUnlessFree, tryWriting, writeMarker } from './marker.ts';

/** What lies in a place without a marker, as far as it tells whose that is. */
export interface Unmarked {
  /** How many contents the records need, and how many of those are there. */
  needed: number;
  there: number;
  /** How many are there that no record needs. */
  others: number;
}

interface Marking {
  store: string;
  /** The sha3-384 of what the records need, each once. */
  needed: AsyncIterable<string>;
  /** Told what lies there, before the place is marked; what it throws leaves that as it is. */
  agree: (found: Unmarked) => Promise<void>;
}

/**
 * Marks a place as that of the store again, where anything lies there that the store needs, or nothing at all and it needs
 * nothing; nothing is done where it is marked. Throws `NoBucket`, also where it belongs to somebody else.
 */
export async function markAgain(
  { address, access }: { address: BucketAddress; access: BucketAccess },
  marking: Marking,
): Promise<Unmarked | undefined> {
  const bucket = await Bucket.connect(address, access, { marker: markerKey });
  return mark(bucket, marking).finally(() => {
    bucket.close();
  });
}

async function mark(bucket: Bucket, { store, needed, agree }: Marking): Promise<Unmarked | undefined> {
  const found = await at(bucket, async () => {
    if ((await ownMarker(bucket, store)) !== undefined) return undefined;
    const unmarked = await lookOver(bucket, needed);
    await refuseUnlessOurs(bucket, unmarked);
    await tryWriting(bucket);
    return unmarked;
  });
  if (found === undefined) return undefined;
  await agree(found);
  await at(bucket, async () => {
    // To agree may have taken a person his time.
    const marked = (await ownMarker(bucket, store)) ?? (await writeMarker(bucket, store));
    if (marked.store !== store) throw notOurs(bucket);
  });
  return found;
}

async function at<Result>({ address }: Bucket, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw cannotOpen(address, error);
  }
}

/** A bucket may be late to list what it has, so what no list names is asked for itself. */
async function lookOver(bucket: Bucket, needed: AsyncIterable<string>): Promise<Unmarked> {
  const listed = new Set<string>();
  for await (const { key } of bucket.list('sha3/')) listed.add(key);
  let [count, there] = [0, 0];
  for await (const sha3_384 of needed) {
    count++;
    const place = placeOfContent(sha3_384);
    const places = [place, placeInQuarantine(sha3_384)];
    if (listed.delete(place) || (await isAnywhere(bucket, places))) there++;
  }
  return { needed: count, there, others: listed.size };
}

async function isAnywhere(bucket: Bucket, keys: readonly string[]): Promise<boolean> {
  for (const key of keys) if ((await bucket.look(key)) !== undefined) return true;
  return false;
}

async function refuseUnlessOurs(bucket: Bucket, { needed, there }: Unmarked): Promise<void> {
  if (there > 0) return;
  for await (const { key } of bucket.list('')) {
    throw not(
      bucket,
      needed === 0
        ? `it has things in it (${key}), and this store has no files yet by which it could be known as its own; name a prefix that nobody uses`
        : `it has no marker of larder, and of ${String(needed)} files that this store needs none is there, but other things are (${key}); name the right place`,
    );
  }
  await refuseUnlessFree(bucket, () => Promise.resolve(needed === 0));
}

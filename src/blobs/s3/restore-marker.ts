// Restores a lost marker: checks by the content of a prefix whether it belongs to the store, and marks it again.
import type { BucketAccess, BucketAddress } from '#contract/bucket-address.ts';
import { formatCount } from '#domain/quantities.ts';
import { S3Bucket } from './bucket.ts';
import { quarantineKey, contentKey } from './contents.ts';
import { cannotOpen } from './errors.ts';
import {
  markerKey,
  bucketError,
  foreignBucket,
  ownMarker,
  refuseUnlessFree,
  tryWriting,
  writeMarker,
} from './marker.ts';

/** The content of a prefix without a marker, compared to the records of the store. */
export interface MarkerFindings {
  /** How many contents the records need, and how many of those exist. */
  needed: number;
  there: number;
  /** How many contents exist that no record needs. */
  others: number;
}

interface Marking {
  store: string;
  /** The sha3-384 of the contents that the records need, without duplicates. */
  needed: AsyncIterable<string>;
  /** Called with the findings before the prefix is marked; if it throws, nothing changes. */
  agree: (findings: MarkerFindings) => Promise<void>;
}

/**
 * Marks a prefix as this store's again if it has content that the store needs, or if it is empty and the store needs
 * none. Does nothing if it is already marked. Throws `BucketError`, also if it belongs to another store.
 */
export async function restoreMarker(
  { address, access }: { address: BucketAddress; access: BucketAccess },
  marking: Marking,
): Promise<MarkerFindings | undefined> {
  const bucket = await S3Bucket.connect(address, access, { marker: markerKey });
  return mark(bucket, marking).finally(() => {
    bucket.close();
  });
}

async function mark(bucket: S3Bucket, { store, needed, agree }: Marking): Promise<MarkerFindings | undefined> {
  const findings = await at(bucket, async () => {
    if ((await ownMarker(bucket, store)) !== undefined) return undefined;
    const unmarked = await compareContents(bucket, needed);
    await refuseUnlessOurs(bucket, unmarked);
    await tryWriting(bucket);
    return unmarked;
  });
  if (findings === undefined) return undefined;
  await agree(findings);
  await at(bucket, async () => {
    // The confirmation may have taken a person some time, so check again.
    const marked = (await ownMarker(bucket, store)) ?? (await writeMarker(bucket, store));
    if (marked.store !== store) throw foreignBucket(bucket);
  });
  return findings;
}

async function at<Result>({ address }: S3Bucket, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw cannotOpen(address, error);
  }
}

/** The list of a bucket may lag behind its content, so content that is not listed is looked up individually. */
async function compareContents(bucket: S3Bucket, needed: AsyncIterable<string>): Promise<MarkerFindings> {
  const listed = new Set<string>();
  for await (const { key } of bucket.list('sha3/')) listed.add(key);
  let [count, presentCount] = [0, 0];
  for await (const sha3_384 of needed) {
    count++;
    const place = contentKey(sha3_384);
    const places = [place, quarantineKey(sha3_384)];
    if (listed.delete(place) || (await existsInAny(bucket, places))) presentCount++;
  }
  return { needed: count, there: presentCount, others: listed.size };
}

async function existsInAny(bucket: S3Bucket, keys: readonly string[]): Promise<boolean> {
  for (const key of keys) if ((await bucket.inspect(key)) !== undefined) return true;
  return false;
}

async function refuseUnlessOurs(bucket: S3Bucket, { needed, there: presentCount }: MarkerFindings): Promise<void> {
  if (presentCount > 0) return;
  for await (const { key } of bucket.list('')) {
    throw bucketError(
      bucket,
      needed === 0
        ? `it contains objects (${key}), and this store has no files yet to recognize its own bucket; name an unused prefix`
        : `it has no marker of larder and none of the ${formatCount(needed, 'file')} that this store needs, but it contains other objects (${key}); name the right bucket`,
    );
  }
  await refuseUnlessFree(bucket, () => Promise.resolve(needed === 0));
}

// Opens the blobs of a store: in a folder of its data directory, or in a bucket on an S3 server.
import { diskBlobs, type DiskBlobs, type DiskBlobsOptions } from '#blobs/disk.ts';
import { parseBucketAddress, type BucketAccess, type BucketAddress } from '#contract/bucket-address.ts';
import type { S3Blobs } from '#blobs/s3.ts';
import { siteKeyCheckName } from '#acts/keys/site-key.ts';
import type { StoreRecords } from '#records/index.ts';
import { createExclusiveRemoval } from '#shared/exclusive-removal.ts';
import { authorityIn, credentialsIn, type Config } from '#configuration/config.ts';

export interface BucketConnection {
  address: BucketAddress;
  access: BucketAccess;
}

/** Returns the bucket of the configuration with its credentials; undefined if the blobs are in a folder. */
export function bucketOf({ blobs }: Pick<Config, 'blobs'>): BucketConnection | undefined {
  const { s3, region, credentials_file: file = '', authority_file } = blobs;
  if (s3 === undefined) return undefined;
  const authority = authority_file === undefined ? undefined : authorityIn(authority_file);
  const renewed = () => credentialsIn(file);
  return { address: parseBucketAddress(s3), access: { region, ...renewed(), authority, renewed } };
}

/** The folder, or the address of the bucket, of [backup]; undefined if none is set. */
export function backupPlaceOf({ backup: { folder, bucket }, blobs: { s3 } }: Pick<Config, 'backup' | 'blobs'>) {
  if (bucket === undefined || s3 === undefined) return folder;
  return `${parseBucketAddress(s3).endpoint}/${bucket}`;
}

interface BlobStoreContext {
  config: Pick<Config, 'blobs' | 'uploads'>;
  records: StoreRecords;
}

/** Opens the blobs. `tries` says whether to test that they can be written, `movesIn` whether a store with content may use a new bucket. */
export async function openBlobs(
  { config, records }: BlobStoreContext,
  options: Omit<DiskBlobsOptions, 'reserve'> & { tries?: boolean; movesIn?: boolean },
): Promise<DiskBlobs | S3Blobs> {
  const { now = () => new Date() } = options;
  const { reserve } = config.uploads;
  const bucket = bucketOf(config);
  if (bucket === undefined) return diskBlobs({ ...options, reserve });
  // Loaded only when needed: stores with a folder do not pay for the S3 client.
  const { s3Blobs } = await import('#blobs/s3.ts');
  const removals = createExclusiveRemoval({ records, now });
  const { store, isNew } = await openingOf(records);
  const mayBegin = options.movesIn === true ? () => Promise.resolve(true) : isNew;
  return s3Blobs({ ...options, ...bucket, reserve, removals, store, isNew: mayBegin });
}

/** Returns the id of the store for the marker of a bucket, and whether the store has no contents yet. */
export async function openingOf(records: Pick<StoreRecords, 'appliance' | 'neededContents'>) {
  const [store] = (await records.appliance.find(siteKeyCheckName))?.split(' ') ?? [];
  if (store === undefined)
    throw new Error('cannot open the blobs: start the server once, which gives the store its name');
  return { store, isNew: async () => (await records.neededContents.list('', 1)).length === 0 };
}

// The place of backups that a command names: a folder, or the address of a bucket on the S3 server of the store.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';

import type { BucketPlaceOptions } from '#backup/bucket.ts';
import { folderPlace, type BackupPlace } from '#backup/place.ts';
import { authorityIn, credentialsIn, type Config } from '#configuration/config.ts';
import {
  formatBucketAddress,
  parseBucketAddress,
  type BucketAccess,
  type BucketAddress,
} from '#contract/bucket-address.ts';
import { bucketOf, openingOf } from '#data/blobs-place.ts';
import { Failure, UsageError } from '../frame/command.ts';
import type { OpenStore } from '../frame/store.ts';
import { toArchiveFailure } from './messages.ts';

/** The bucket of an address such as https://s3.internal:8080/larder-backups/main; undefined for a path. */
export function bucketIn(text: string): BucketAddress | undefined {
  if (!/^https?:\/\//.test(text)) return undefined;
  try {
    return parseBucketAddress(text);
  } catch (error) {
    throw new UsageError(`the address of a bucket ${(error as Error).message}`);
  }
}

/** Opens the folder or the bucket for a command on the store; undefined for a file. */
export async function openPlace(text: string, store: OpenStore): Promise<BackupPlace | undefined> {
  const address = bucketIn(text);
  if (address !== undefined) {
    const { store: id } = await openingOf(store.records);
    return connect({ address, access: accessOf(address, store.config), store: id, now: store.now });
  }
  return findFolder(text, store);
}

export function findFolder(path: string, how: Parameters<typeof folderPlace>[1] = {}): BackupPlace | undefined {
  const folder = resolve(path);
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? folderPlace(folder, how) : undefined;
}

/** The credentials of the blobs, for another bucket on the same server. */
function accessOf({ endpoint, bucket }: BucketAddress, config: Pick<Config, 'blobs'>): BucketAccess {
  const blobs = bucketOf(config);
  if (blobs?.address.endpoint !== endpoint)
    throw new Failure(`${endpoint} is not the server of blobs.s3, and the store has no credentials for another one`, {
      code: 'no-credentials',
    });
  if (blobs.address.bucket === bucket)
    throw new Failure(`the bucket ${bucket} has the files of the store; name another one for backups`, {
      code: 'same-bucket',
    });
  return blobs.access;
}

/** The options that give access to a bucket without a store. */
export const bucketOptions = {
  's3-credentials': {
    type: 'string',
    value: 'FILE',
    summary: 'If FILE is the address of a bucket: the TOML file with access_key_id and secret_access_key.',
  },
  's3-authority': {
    type: 'string',
    value: 'FILE',
    summary: 'The authority that has signed the certificate of that server, PEM, if it is not a public one.',
  },
  's3-region': { type: 'string', value: 'NAME', summary: 'The region of that server. Default: us-east-1.' },
} as const;

/** Opens the folder or the bucket to restore from; undefined for a file. */
export async function openPlaceToRestore(
  text: string,
  options: { readonly [Name in keyof typeof bucketOptions]: string | undefined },
): Promise<BackupPlace | undefined> {
  const { 's3-credentials': credentials, 's3-authority': authority, 's3-region': region = 'us-east-1' } = options;
  const address = bucketIn(text);
  if (address === undefined) {
    const wrong = (['s3-credentials', 's3-authority', 's3-region'] as const).find(
      (name) => options[name] !== undefined,
    );
    if (wrong !== undefined) throw new UsageError(`--${wrong} has an effect only with the address of a bucket`);
    return findFolder(text);
  }
  if (credentials === undefined) throw new UsageError('a bucket needs --s3-credentials FILE');
  const access = {
    ...credentialsIn(resolve(credentials)),
    region,
    authority: authority === undefined ? undefined : authorityIn(resolve(authority)),
  };
  return connect({ address, access, store: undefined, now: () => new Date() });
}

/** Loaded only when needed: stores with a folder do not pay for the S3 client. */
async function connect(options: BucketPlaceOptions): Promise<BackupPlace> {
  const { bucketPlace } = await import('#backup/bucket.ts');
  return bucketPlace(options).catch((error: unknown) => {
    throw toArchiveFailure(error, formatBucketAddress(options.address));
  });
}

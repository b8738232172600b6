// A blob store on the engine that the tests run on: a folder, or with LARDER_BLOBS=s3 a server of S3 of their own.
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import t, { type Test } from 'tap';

import { createDigestPool } from '#blobs/digests.ts';
import { diskBlobs, type DiskBlobs } from '#blobs/disk.ts';
import type { BucketAddress } from '#contract/bucket-address.ts';
import { s3Blobs, type S3Blobs, type S3BlobsOptions } from '#blobs/s3.ts';
import { sharedSwift, type SwiftServer } from '#test/fixtures/servers/swift.ts';
import { filesBelow, startDigestWorker } from './store.ts';

export const blobEngine = process.env['LARDER_BLOBS'] === 's3' ? 's3' : 'disk';

interface Options {
  now?: () => Date;
  damaged?: (blob: { sha3_384: string; size: number }) => void;
}

/** A blob store, and changes behind its back. */
export interface TestBlobs {
  blobs: DiskBlobs;
  /** The same as another process has it. */
  beside(options?: Options): Promise<DiskBlobs>;
  /** Everything it has, on its way or in its place. */
  places(): Promise<string[]>;
  /** Puts other bytes in the place of content. */
  overwrite(sha3_384: string, bytes: Buffer): Promise<void>;
  /** Puts something there that is none of its own. */
  litter(name: string): Promise<void>;
  /** Leaves something half received. */
  leave(id: string): Promise<void>;
}

async function ownFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'larder-blobs-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function testBlobs(t: Test, options: Options = {}): Promise<TestBlobs> {
  const directory = await ownFolder(t);
  const digests = createDigestPool(startDigestWorker, 2);
  t.teardown(() => digests.close());
  return blobEngine === 's3' ? onS3(t, options) : onDisk();

  async function onDisk(): Promise<TestBlobs> {
    const fatal = (error: Error): never => {
      throw error;
    };
    const opened = (more: Options = {}) => diskBlobs({ directory, reserve: 0, digests, fatal, ...options, ...more });
    const root = join(directory, 'blobs');
    const place = (sha3_384: string): string => join(root, 'sha3', sha3_384.slice(0, 2), sha3_384);
    return {
      blobs: await opened(),
      beside: opened,
      places: () => filesBelow(root),
      async overwrite(sha3_384, bytes) {
        // In place, like a disk: readers with an open file see it too.
        await truncate(place(sha3_384), 0);
        await writeFile(place(sha3_384), bytes);
      },
      litter: (name) => writeFile(join(root, name), 'litter'),
      leave: (id) => writeFile(join(root, 'tmp', id), 'half'),
    };
  }
}

export interface TestS3 extends TestBlobs {
  blobs: S3Blobs;
  beside(options?: Partial<S3BlobsOptions>): Promise<S3Blobs>;
  server: SwiftServer;
  address: BucketAddress;
  directory: string;
  /** The keys below its prefix. */
  keys(): Promise<string[]>;
  read(key: string): Promise<Buffer>;
  write(key: string, bytes: Buffer): Promise<void>;
  remove(key: string): Promise<void>;
}

/** A blob store in a prefix of its own, of the server that all tests of the process share or of another one. */
export async function onS3(t: Test, options: Partial<S3BlobsOptions> = {}, own?: SwiftServer): Promise<TestS3> {
  const server = own ?? (await sharedSwift(root));
  const directory = options.directory ?? (await ownFolder(t));
  const digests = createDigestPool(startDigestWorker, 2);
  t.teardown(() => digests.close());
  const address = options.address ?? server.newPlace();
  const opened = async (more: Partial<S3BlobsOptions> = {}): Promise<S3Blobs> => {
    const fatal = (error: Error): never => {
      throw error;
    };
    const isNew = () => Promise.resolve(true);
    const { access } = server;
    const common = { address, access, directory, reserve: 0, digests, fatal, store: 'store-of-ada', isNew };
    const blobs = await s3Blobs({ ...common, ...options, ...more });
    t.teardown(() => blobs.close());
    return blobs;
  };
  const { client, bucket: Bucket } = server;
  const { prefix: Prefix } = address;
  const keys = async (): Promise<string[]> => {
    const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix }));
    return (page.Contents ?? []).map(({ Key = '' }) => Key.slice(Prefix.length));
  };
  const write = async (key: string, Body: Buffer): Promise<void> => {
    await client.send(new PutObjectCommand({ Bucket, Key: Prefix + key, Body }));
  };
  return {
    blobs: await opened(),
    beside: opened,
    server,
    address,
    directory,
    keys,
    write,
    async read(key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: Prefix + key }));
      return Buffer.from(await Body!.transformToByteArray());
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand({ Bucket, Key: Prefix + key }));
    },
    async places() {
      const objectKeys = (await keys()).filter((key) => key !== 'larder-store.json');
      return [...objectKeys, ...(await filesBelow(join(directory, 'blobs')))].sort();
    },
    overwrite: (sha3_384, bytes) => write(`sha3/${sha3_384.slice(0, 2)}/${sha3_384}`, bytes),
    litter: (name) => write(name, Buffer.from('litter')),
    leave: (id) => writeFile(join(directory, 'blobs/tmp', id), 'half'),
  };
}

const root = t;

export const sha3 = (bytes: Uint8Array): string => createHash('sha3-384').update(bytes).digest('hex');

/** The bytes of a loan, which is given back. */
export async function borrowed(blobs: Pick<DiskBlobs, 'makeLocalCopy'>, sha3_384: string): Promise<Buffer> {
  const loan = await blobs.makeLocalCopy(sha3_384);
  return readFile(loan.file).finally(() => loan.release());
}

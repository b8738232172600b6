// A blob store in a folder of its own, for as long as a test runs.
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Chunks } from '#blobs/blobs.ts';
import { createDigestPool, type DigestPool } from '#blobs/digests.ts';
import { diskBlobs, type DiskBlobs, type DiskBlobsOptions } from '#blobs/disk.ts';
import { startWorker } from '#platform/embedded.ts';

export interface TestStore {
  blobs: DiskBlobs;
  directory: string;
  digests: DigestPool;
  /** The errors that `fatal` got. */
  failures: Error[];
  /** The files below `blobs`, by their paths. */
  files(): Promise<string[]>;
}

export async function temporaryFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'larder-blobs-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export const startDigestWorker = (options = {}) => startWorker('src/blobs/digest-worker.ts', options);

export async function store(t: Test, options: Partial<DiskBlobsOptions> = {}): Promise<TestStore> {
  const directory = options.directory ?? (await temporaryFolder(t));
  const digests = createDigestPool(startDigestWorker, 2);
  t.teardown(() => digests.close());
  const failures: Error[] = [];
  const fatal = (error: Error): void => void failures.push(error);
  const blobs = await diskBlobs({ directory, reserve: 0, digests, fatal, ...options });
  return { blobs, directory, digests, failures, files: () => filesBelow(join(directory, 'blobs')) };
}

export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort();
}

export async function* from(...chunks: Uint8Array[]): AsyncGenerator<Chunks> {
  for (const chunk of chunks) yield [chunk];
}

export const digest = (algorithm: string, ...chunks: Uint8Array[]): string => {
  const hash = createHash(algorithm);
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
};

export async function listed<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all = [];
  for await (const element of source) all.push(element);
  return all;
}

export async function contentOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await listed(stream));
}

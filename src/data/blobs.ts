// The blobs of a data directory, and the room that they and the records take.
import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { digestPool, type DigestPool } from '#blobs/digests.ts';
import { diskBlobs, type DiskBlobs } from '#blobs/disk.ts';
import { startWorker } from '#src/embedded.ts';
import { randomIds } from '#domain/ids.ts';
import { newHolder, serveBeside } from '#shared/processes.ts';
import { createShares } from '#shared/shares.ts';
import { nativeBinding } from '#src/native.ts';
import type { Store } from './store.ts';

/** The blobs of a data directory as commands on the host have them, beside a serving process or without one. */
export async function withBlobs<Result>(
  { directory, config, records, now }: Pick<Store, 'directory' | 'config' | 'records' | 'now'>,
  work: (kept: Kept) => Promise<Result>,
): Promise<Result> {
  const digests = digestPool((worker) => startWorker('src/blobs/digest-worker.ts', worker));
  const fatal = (error: Error): never => {
    throw error;
  };
  const process = records.server && (await serveBeside(records, now));
  const shares = createShares({ records, holder: newHolder(randomIds), now, ofHost: true });
  try {
    const blobs = await diskBlobs({ directory, reserve: config.uploads.reserve, digests, fatal, shares });
    return await work({ blobs, digests, database: join(directory, 'larder.db'), nativeBinding: nativeBinding() });
  } finally {
    await shares.end();
    await process?.end();
    await digests.close();
  }
}

export interface Kept {
  blobs: DiskBlobs;
  digests: DigestPool;
  /** The database file, and what it takes to look into it. */
  database: string;
  nativeBinding: object | undefined;
}

/** What the data directory takes of its disk. */
export function occupied(directory: string) {
  const size = (name: string): number => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  const { bavail, blocks, bsize } = statfsSync(directory);
  return {
    databaseBytes: size('larder.db'),
    walBytes: size('larder.db-wal'),
    diskFreeBytes: bavail * bsize,
    diskSizeBytes: blocks * bsize,
  };
}

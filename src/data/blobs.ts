// Opens the blobs of a data directory for commands, and measures the disk space of blobs and records.
import { statfsSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

import { createDigestPool, type DigestPool } from '#blobs/digests.ts';
import type { DiskBlobs } from '#blobs/disk.ts';
import { startWorker } from '#platform/embedded.ts';
import { isDiskFull } from '#domain/disk-full.ts';
import { randomIds } from '#domain/ids.ts';
import { newHolder, registerProcess } from '#shared/processes.ts';
import { createShares } from '#shared/shares.ts';
import { nativeBinding } from '#platform/native.ts';
import { openBlobs } from './blobs-place.ts';
import type { StoreHandle } from './store.ts';

/** Runs `work` with the blobs of a data directory, for commands on the host, alongside a serving process or without one. `onlyReads` says that it adds no content. */
export async function withBlobs<Result>(
  { directory, config, records, now }: Pick<StoreHandle, 'directory' | 'config' | 'records' | 'now'>,
  work: (opened: OpenBlobs) => Promise<Result>,
  { movesIn = false, onlyReads = false }: { movesIn?: boolean; onlyReads?: boolean } = {},
): Promise<Result> {
  const digests = createDigestPool((worker) => startWorker('src/blobs/digest-worker.ts', worker));
  const fatal = (error: Error): never => {
    throw error;
  };
  const process = isMainThread ? await register({ records, now }, onlyReads) : undefined;
  const shares = createShares({ records, holder: newHolder(randomIds), now, ofHost: true });
  let blobs: DiskBlobs | undefined;
  try {
    blobs = await openBlobs({ config, records }, { directory, digests, fatal, shares, movesIn });
    return await work({ blobs, digests, nativeBinding: nativeBinding() });
  } finally {
    await (blobs?.close() ?? shares.end());
    await process?.end();
    await digests.close();
  }
}

/**
 * Registers the process of a command, because a server that starts removes the temporary files of others. The process of a
 * thread is registered already. Commands that only read also run if the disk is too full for it: a backup is then the remedy.
 */
async function register({ records, now }: Pick<StoreHandle, 'records' | 'now'>, onlyReads: boolean) {
  const unlessFull = (error: unknown): undefined => {
    if (!onlyReads || !isDiskFull(error)) throw error;
  };
  const registered = await registerProcess(records, now).catch(unlessFull);
  return registered && { end: () => registered.end().catch(unlessFull) };
}

export interface OpenBlobs {
  blobs: DiskBlobs;
  digests: DigestPool;
  /** The loaded native module of SQLite, to open database files. */
  nativeBinding: object | undefined;
}

/** Returns the free space and the size of the disk of a data directory. */
export function diskSpace(directory: string): { diskFreeBytes: number; diskSizeBytes: number } {
  const { bavail, blocks, bsize } = statfsSync(directory);
  return { diskFreeBytes: bavail * bsize, diskSizeBytes: blocks * bsize };
}

/** Returns the size of the records and the free space for blobs. On PostgreSQL the server manages the log, so its size is left out. */
export async function measureDiskUse({ directory, database }: Pick<StoreHandle, 'directory' | 'database'>) {
  const { bytes, logBytes } = await database.size();
  return { databaseBytes: bytes, ...(logBytes !== undefined && { walBytes: logBytes }), ...diskSpace(directory) };
}

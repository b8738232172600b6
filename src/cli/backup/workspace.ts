// Where the copy of the database lies while a backup is made or looked at, and what is asked of it.
import { chownSync, mkdirSync, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mebibytes } from '#backup/target.ts';
import { openRecords } from '#data/records.ts';
import { DataDirectoryInUse, lockBackups } from '#data/lock.ts';
import { Failure } from '../frame/command.ts';
import type { OpenStore } from '../frame/store.ts';

const batch = 1000;

/**
 * Holds the backups of a store, with a folder for the copy of its database, which takes so much: in the data directory, or,
 * where that has no room, beside the archive. What a backup that was killed has left there is cleared away.
 */
export async function withWorkspace<Result>(
  store: Pick<OpenStore, 'directory' | 'asCaller'>,
  { file, size }: { file: string; size: number },
  work: (workspace: string) => Promise<Result>,
): Promise<Result> {
  const { directory, asCaller } = store;
  const lock = held(directory);
  const [here, there] = [join(directory, 'backup.tmp'), `${file}.tmp`];
  try {
    rmSync(here, { recursive: true, force: true });
    if (hasRoom(directory, size)) {
      mkdirSync(here, { mode: 0o700 });
      return await work(here);
    }
    await asCaller(() => {
      makeFor(directory, there);
    });
    return await work(there);
  } finally {
    rmSync(here, { recursive: true, force: true });
    await asCaller(() => {
      rmSync(there, { recursive: true, force: true });
    });
    lock.close();
  }
}

/** Refuses what will not fit beside the store. */
export function requireRoomFor(directory: string, size: number): void {
  if (hasRoom(directory, size)) return;
  throw new Failure(
    `the records may take ${mebibytes(size)} in a file, and ${directory} has no room for that; make room there`,
    { code: 'no-room' },
  );
}

/** A folder of nobody's store, for a look at a backup. */
export async function withTemporaryFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'larder-check-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The contents that the records of a copied database need. */
export async function neededIn(folder: string): Promise<string[]> {
  const { records, close } = await openRecords(folder, { held: true });
  try {
    const needed: string[] = [];
    for (;;) {
      const some = await records.neededContents.list(needed.at(-1) ?? '', batch);
      needed.push(...some);
      if (some.length < batch) return needed;
    }
  } finally {
    await close();
  }
}

function held(directory: string): { close(): unknown } {
  try {
    return lockBackups(directory);
  } catch (error) {
    if (!(error instanceof DataDirectoryInUse)) throw error;
    throw new Failure('another backup of this store is being made; wait for its end', {
      code: 'backup-under-way',
      cause: error,
    });
  }
}

/** Whether a copy of the database fits beside it, without taking the last block. */
function hasRoom(directory: string, size: number): boolean {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize > size + 16 * 1024 * 1024;
}

/** Makes a folder for the owner of the data directory, where the file system knows owners. */
function makeFor(directory: string, folder: string): void {
  const { uid, gid } = statSync(directory);
  mkdirSync(folder, { mode: 0o700 });
  if (process.geteuid?.() === 0) chownSync(folder, uid, gid);
}

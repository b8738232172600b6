// Provides the folder for the copy of the database during a backup or a check, and the checks of free space.
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { mebibytes } from '#backup/target.ts';
import { openRecords } from '#data/records.ts';
import { DataDirectoryInUse, lockBackups } from '#data/lock.ts';
import { Failure } from '../frame/command.ts';
import type { OpenStore } from '../frame/store.ts';

const batch = 1000;

/**
 * Runs work with the store's lock for backups and a folder for the copy of its database, which takes `size` bytes. The folder
 * is in the data directory, or beside the archive if the data directory has no room. Removes the remains of killed backups. Without
 * a file, such as for a bucket, it is in the data directory.
 */
export async function withWorkspace<Result>(
  { directory, asCaller }: Pick<OpenStore, 'directory' | 'asCaller'>,
  { file, size }: { file: string | undefined; size: number },
  work: (workspace: string) => Promise<Result>,
): Promise<Result> {
  const lock = held(directory);
  const localFolder = join(directory, 'backup.tmp');
  const owner = statSync(directory);
  let adjacentFolder: string | undefined;
  try {
    rmSync(localFolder, { recursive: true, force: true });
    const left = file === undefined ? [] : await asCaller(() => findLeftFolders(file, owner.uid));
    for (const folder of left) await removeWorkspace(folder, asCaller);
    if (file === undefined) requireRoomFor(directory, size);
    if (file === undefined || hasRoom(directory, size)) {
      mkdirSync(localFolder, { mode: 0o700 });
      return await work(localFolder);
    }
    adjacentFolder = await asCaller(() => makeAdjacentFolder(file, owner));
    return await work(adjacentFolder);
  } finally {
    rmSync(localFolder, { recursive: true, force: true });
    if (adjacentFolder !== undefined) await removeWorkspace(adjacentFolder, asCaller);
    lock.close();
  }
}

/** The prefix of the names of folders beside an archive; a random part follows. */
const adjacentPrefix = (file: string): string => `.${basename(file)}.larder-backup-`;

/** Creates a new folder beside the archive, and gives it to the owner of the data directory. */
function makeAdjacentFolder(file: string, { uid, gid }: { uid: number; gid: number }): string {
  const folder = mkdtempSync(join(dirname(file), adjacentPrefix(file)));
  if (process.geteuid?.() !== 0 || uid === 0) return folder;
  // In a directory that other users can write to, the name may have been replaced: change the owner through the handle, and follow
  // no link.
  const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const { uid: maker, mode } = fstatSync(handle);
    if (maker !== 0 || (mode & 0o777) !== 0o700 || readdirSync(folder).length > 0) {
      throw new Failure(`${folder} is not the folder that was made there; write the backup where others may not write`);
    }
    fchownSync(handle, uid, gid);
  } finally {
    closeSync(handle);
  }
  return folder;
}

/** The folders that killed backups left beside an archive of this name. */
function findLeftFolders(file: string, uid: number): string[] {
  const folder = dirname(file);
  return readdirSync(folder)
    .filter((name) => name.startsWith(adjacentPrefix(file)))
    .map((name) => join(folder, name))
    .filter((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats?.isDirectory() === true && stats.uid === uid;
    });
}

/**
 * Removes a folder beside an archive: its content with the rights of the store, the empty folder with those of the caller. Opens
 * it first, so that a link in its place is not followed.
 */
async function removeWorkspace(folder: string, asCaller: OpenStore['asCaller']): Promise<void> {
  try {
    const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      const inside = `/proc/self/fd/${String(handle)}`;
      for (const name of readdirSync(inside)) rmSync(join(inside, name), { recursive: true, force: true });
    } finally {
      closeSync(handle);
    }
    await asCaller(() => {
      rmdirSync(folder);
    });
  } catch {
    // The folder only takes space; the next backup of this name tries again.
  }
}

/** Refuses to start if the directory has no room for `size` bytes. */
export function requireRoomFor(directory: string, size: number): void {
  if (hasRoom(directory, size)) return;
  throw new Failure(
    `the records may take ${mebibytes(size)} in a file, and ${directory} has no room for that; make room there`,
    { code: 'no-room' },
  );
}

/** Runs work with a temporary folder outside of any store, to check a backup. */
export async function withTemporaryFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'larder-check-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The contents that the records of a copied database need. */
export async function listNeededContents(folder: string): Promise<string[]> {
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
    throw new Failure('another backup of this store is being made; wait until it is done', {
      code: 'backup-under-way',
      cause: error,
    });
  }
}

/** Whether `size` bytes fit and 16 MiB stay free. */
function hasRoom(directory: string, size: number): boolean {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize > size + 16 * 1024 * 1024;
}

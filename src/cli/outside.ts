// Files that a command reads and writes outside of the data directory: on a stick, in somebody's home. When that does not
// work, the person is told which file, why, and what to do.
import { fsyncSync, closeSync, openSync } from 'node:fs';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from './command.ts';
import type { AsCaller } from './owner.ts';

/** Why a file cannot be written, and what to do, by what the system says of it. */
const reasons: Readonly<Record<string, (folder: string) => string>> = {
  EACCES: (folder) => `this user may not write into ${folder}; name another place, or run this as root`,
  EPERM: (folder) => `this user may not write into ${folder}; name another place, or run this as root`,
  EROFS: (folder) => `${folder} is mounted read-only; mount it for writing, or name another place`,
  ENOENT: (folder) => `there is no folder ${folder}; make it, or mount what belongs there`,
  ENOTDIR: (folder) => `${folder} is no folder; name another place`,
  EISDIR: () => 'it is a folder; name a file in it',
  EEXIST: () => 'it is there already; name a new one',
  ENOSPC: (folder) => `there is no room left in ${folder}; make room, or take a larger disk`,
  EDQUOT: (folder) => `there is no room left for this user in ${folder}; make room, or take a larger disk`,
  EFBIG: (folder) =>
    `files in ${folder} cannot be that large, as on every stick with FAT (4 GiB); take one with ext4 or exFAT`,
  EIO: (folder) => `the disk under ${folder} fails; take another one`,
  EINVAL: () => 'the file system there takes no such name; name it otherwise',
  ENAMETOOLONG: () => 'its name is too long; take a shorter one',
  EMFILE: () => 'this process may open no more files; raise its limit (ulimit -n)',
  ENFILE: () => 'the machine may open no more files; end what has too many open',
};

/** Says in a sentence that a file could not be written; what is no matter of the file stays as it is. */
export function cannotWrite(file: string, cause: unknown): unknown {
  const reason = reasons[codeOf(cause) ?? ''];
  return reason === undefined || cause instanceof Failure
    ? cause
    : new Failure(`cannot write ${file}: ${reason(dirname(file))}`, { code: 'cannot-write', cause });
}

const readingReasons: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there; look whether its name is right, and whether its disk is mounted',
  ENOTDIR: 'it is not there; look whether its name is right, and whether its disk is mounted',
  EACCES: 'this user may not read it; run this as root, or give it to this user',
  EPERM: 'this user may not read it; run this as root, or give it to this user',
  EISDIR: 'it is a folder; name a file in it',
  EIO: 'the disk under it fails; take another copy of it',
};

/** Says in a sentence that a file could not be read; what is no matter of the file stays as it is. */
export function cannotRead(file: string, cause: unknown): unknown {
  const reason = readingReasons[codeOf(cause) ?? ''];
  return reason === undefined || cause instanceof Failure
    ? cause
    : new Failure(`cannot read ${file}: ${reason}`, { code: 'cannot-read', cause });
}

/** Does something that writes a file, with a sentence for whatever keeps it from that. */
export async function writing<Result>(file: string, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

/**
 * Writes a new file, durably; of one that cannot be filled nothing is left. It is made and finished with the rights of
 * whoever typed the command, and filled without them: what it is filled from belongs to the store.
 */
export async function writeNew(
  file: string,
  asCaller: AsCaller,
  fill: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  await writing(file, async () => {
    const handle = await asCaller(() => open(file, 'wx', 0o600));
    try {
      await fill(handle);
      await handle.sync();
      await handle.close();
    } catch (error) {
      await handle.close().catch(() => undefined);
      await asCaller(() => rm(file, { force: true }));
      throw error;
    }
    await asCaller(() => {
      syncFolder(dirname(file));
    });
  });
}

/** Makes the entries of a folder durable, where the file system does that on demand. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } catch (error) {
    // Some file systems of sticks and of the network have no such thing.
    if (!['EINVAL', 'ENOTSUP'].includes(codeOf(error) ?? '')) throw error;
  } finally {
    closeSync(handle);
  }
}

/** What the system called it, of an error or of what it was caused by. */
function codeOf(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && /^E[A-Z]+$/.test(cause.code)) return cause.code;
  }
  return undefined;
}

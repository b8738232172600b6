// The file that a backup is written to. It gets its name only when it is complete, verified and durable. Until then it has a temporary
// name, the same for all backups of a store in a folder, so that killed backups do not accumulate.
import { createMac } from '#domain/cryptography.ts';
import { statfsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder, type Files } from '#files/durable-streams.ts';

export interface BackupTarget {
  /** The path until the file has its name. */
  partial: string;
  handle: FileHandle;
  /** Gives the file its name, durably. */
  place(): Promise<void>;
  /** Removes the file. */
  discard(): Promise<void>;
}

/** Opens the file. The caller must hold the lock for backups of this store. */
export async function openTarget(file: string, siteKey: Buffer, files: Files): Promise<BackupTarget> {
  const partial = join(dirname(file), partialName(siteKey));
  await files.rm(partial, { force: true });
  const handle = await files.open(partial, 'wx', 0o600);
  return {
    partial,
    handle,
    async place() {
      await handle.close();
      await files.rename(partial, file);
      await syncFolder(dirname(file), files);
    },
    async discard() {
      await handle.close().catch(() => undefined);
      await files.rm(partial, { force: true });
    },
  };
}

/** Differs between stores, which may share a folder. */
const partialName = (siteKey: Buffer): string =>
  `larder-${createMac('backup name', siteKey).update('name of a partial backup').digest('hex').slice(0, 8)}.partial`;

/** Thrown if there is no space for a backup. The message is for the person who makes it. */
export class NoRoom extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NoRoom';
  }
}

/** The free bytes and the type of a file system. */
export interface FileSystemSpace {
  free: number;
  type: number;
}

export function roomIn(folder: string): FileSystemSpace {
  const { bavail, bsize, type } = statfsSync(folder);
  return { free: bavail * bsize, type };
}

const fat = 0x4d44;
const largestOnFat = 2 ** 32 - 1;

/** Refuses before the first byte if the backup cannot fit. */
export function requireRoom(folder: string, needed: number, { free, type }: FileSystemSpace): void {
  if (type === fat && needed > largestOnFat) {
    throw new NoRoom(
      `the backup takes ${mebibytes(needed)}, but ${folder} is on FAT, which allows files of 4096 MiB; ` +
        'use a disk with ext4 or exFAT, or back up new content only with --since',
    );
  }
  if (needed > free) {
    throw new NoRoom(
      `the backup takes ${mebibytes(needed)}, but only ${mebibytes(free)} are free in ${folder}; make room, use a larger ` +
        'disk, or back up new content only with --since',
    );
  }
}

/** Returns bytes as MiB, rounded up, for people. */
export const mebibytes = (bytes: number): string => `${String(Math.ceil(bytes / 1024 / 1024))} MiB`;

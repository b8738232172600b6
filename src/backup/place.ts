// The place of the backups of a store: a folder, or a bucket (bucket.ts).
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { onDisk, syncFolder, type Files } from '#files/durable-streams.ts';
import { readTar, type TarPart, type TarReader } from './tar.ts';
import { openTarget, type BackupTarget } from './target.ts';

/** A place that cannot be read or written now; nothing is known about its files. The message is one sentence. */
export class PlaceUnavailable extends Error {
  /** The message includes everything that the cause says. */
  readonly saysAll = true;
}

/** Runs work on files outside of the data directory with the rights of the caller who asked for it. */
export type RunAsCaller = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

export interface BackupStart {
  /** An empty folder of the store. */
  workspace: string;
  siteKey: Buffer;
  /** Ends the work before the archive has its name. */
  signal?: AbortSignal | undefined;
}

/** Its files are named by their paths, or by their addresses. */
export interface BackupPlace {
  /** The path of the folder, or the address of the bucket. */
  readonly name: string;
  readonly asCaller: RunAsCaller;
  /** The files with the name of a backup, the latest name first. */
  list(): Promise<string[]>;
  has(file: string): Promise<boolean>;
  open(file: string, part?: TarPart): Promise<TarReader>;
  /** The folder on a disk that a new archive takes its room in. */
  roomFor(workspace: string): string;
  /** Begins an archive. A file of that name stays until the archive is complete. */
  begin(file: string, how: BackupStart): Promise<BackupTarget>;
  /** Removes files durably. */
  remove(files: readonly string[]): Promise<void>;
  close(): void;
}

/** Whether a file has the name of a backup, such as `larder-20261122T014500Z.tar`. */
export const isBackupName = (name: string): boolean => /^larder-\d{8}T\d{6}Z\.tar$/.test(name);

const runDirectly: RunAsCaller = async (work) => work();

export const folderPlace = (
  folder: string,
  { asCaller = runDirectly, files = onDisk }: { asCaller?: RunAsCaller; files?: Files } = {},
): BackupPlace => ({
  name: folder,
  asCaller,
  list: async () =>
    readdirSync(folder)
      .filter(isBackupName)
      .sort()
      .reverse()
      .map((name) => join(folder, name)),
  has: async (file) => existsSync(file),
  open: (file, part) => readTar(file, part),
  roomFor: () => folder,
  begin: (file, { siteKey }) => openTarget(file, siteKey, files),
  async remove(old) {
    for (const file of old) await files.rm(file);
    if (old.length > 0) await syncFolder(folder, files);
  },
  close: () => undefined,
});

/** The place of a backup that is named by its file. */
export const placeOfFile = (file: string, how: { asCaller?: RunAsCaller; files?: Files }): BackupPlace =>
  folderPlace(dirname(file), how);

// The backups of a store in a folder or a bucket: their names, their order, and the earlier ones that each builds on.
import { basename } from 'node:path';

import { days, hours } from '#domain/clock.ts';
import { mapHolders } from './archives.ts';
import { NotOurs, readManifest, type BackedUpBlob, type Manifest } from './manifest.ts';
import { PlaceUnavailable, type BackupPlace } from './place.ts';
import { NotWhole, type TarReader } from './tar.ts';

export interface FolderBackup {
  file: string;
  manifest: Manifest;
}

/** The name of a backup that was made at this time, such as `larder-20261122T014500Z.tar`. */
export const backupNameAt = (moment: Date): string =>
  `larder-${moment.toISOString().replaceAll(/[-:]|\.\d+/g, '')}.tar`;

type ReadablePlace = Pick<BackupPlace, 'name' | 'list' | 'open'>;

/** Reads the manifest of a backup; undefined if another store made it. Throws NotWhole if it is cut off. */
async function readOwnManifest(place: ReadablePlace, file: string, siteKey: Buffer): Promise<Manifest | undefined> {
  const tar: TarReader = await place.open(file, 'end');
  try {
    return await readManifest(file, tar, siteKey);
  } catch (error) {
    if (error instanceof NotOurs) return undefined;
    throw error;
  } finally {
    await tar.close();
  }
}

/** An increment builds on a full backup of the last week; a nightly timer that starts an hour early or late still finds it due. */
const maxFullAgeMs = days(7) - hours(12);

/**
 * Returns the backup that the next increment builds on: the newest one of this store, if every backup that it builds on is there. Undefined
 * if a full backup is due. Reads one manifest, because each has the names of the earlier files; more only after a merge of earlier ones.
 */
export async function findIncrementBase(
  place: ReadablePlace,
  siteKey: Buffer,
  now: Date,
): Promise<FolderBackup | undefined> {
  const files = await place.list();
  const present = new Set(files.map((path) => basename(path)));
  for (const file of files) {
    // A file that is cut off, or of another store, is no base and stays as it is.
    const manifest = await readOwnManifest(place, file, siteKey).catch((error: unknown) => {
      if (error instanceof PlaceUnavailable) throw error;
      return undefined;
    });
    if (manifest === undefined) continue;
    const parts = partsOf({ file, manifest });
    const full = parts.find(({ isFull }) => isFull);
    const age = full === undefined ? Infinity : now.getTime() - Date.parse(full.madeAt);
    if (age >= maxFullAgeMs) return undefined;
    const isThere = (id: string): boolean => parts.some((part) => part.id === id && present.has(part.file));
    if (listUsedBackups(manifest).every(isThere)) return { file, manifest };
    return followMerges(place, siteKey, { file, manifest });
  }
  return undefined;
}

/** The ids of the backups with the blobs of this one, without its own. */
export const listUsedBackups = ({ id, blobs }: Pick<Manifest, 'id' | 'blobs'>): string[] => [
  ...new Set(blobs.map(({ backup }) => backup).filter((backup) => backup !== id)),
];

/**
 * The same backup with its blobs in the archives that have taken the place of merged ones; undefined if one is missing. Its successor names
 * these, so this is needed once after a merge.
 */
async function followMerges(
  place: ReadablePlace,
  siteKey: Buffer,
  { file, manifest }: FolderBackup,
): Promise<FolderBackup | undefined> {
  const { backups } = await readFolderBackups(place, siteKey);
  const holders = mapHolders(backups);
  const blobs: BackedUpBlob[] = [];
  for (const blob of manifest.blobs) {
    const holder = holders.get(blob.backup);
    if (holder === undefined) return undefined;
    blobs.push({ ...blob, backup: holder.manifest.id });
  }
  const full = partsOf({ file, manifest }).filter(({ isFull }) => isFull);
  const parts = listUsedBackups({ id: manifest.id, blobs }).map((id) => partsOf(holders.get(id)!)[0]!);
  const builtOn = [...parts, ...full.filter(({ id }) => id !== manifest.id && !parts.some((part) => part.id === id))];
  return { file, manifest: { ...manifest, blobs, builtOn } };
}

type BackupParts = NonNullable<Manifest['builtOn']>;

/** A backup and the earlier ones that it builds on, as its successors name them. */
const partsOf = ({ file, manifest: { id, madeAt, since, builtOn = [] } }: FolderBackup): BackupParts => [
  { id, file: basename(file), madeAt, isFull: since === null },
  ...builtOn,
];

/** The earlier backups to name in the manifest of an increment: the ones with its blobs, and the last full one. */
export function listParts(manifest: Pick<Manifest, 'id' | 'blobs'>, base: FolderBackup | undefined): BackupParts {
  if (base === undefined) return [];
  const used = new Set(listUsedBackups(manifest));
  const parts = partsOf(base);
  const full = parts.find(({ isFull }) => isFull);
  return parts.filter((part) => used.has(part.id) || part === full);
}

/** The newest backup of this store in a folder that was made at `moment` or before, and the files that it builds on. */
export interface StateInFolder {
  file: string;
  bases: string[];
  /** The newest backup of this store in the folder. */
  newest: FolderBackup;
}

/** A folder has no backup of this store that fits. The message is for the person who restores. */
export class NoSuchState extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NoSuchState';
  }
}

/**
 * Reads the backups of this store in a folder, the last made first, and the names of files that are damaged or cut off. After the clock was
 * set back, the names of files are not in order. `failed` is the first error that says nothing about its file, such as of a failing disk.
 */
export async function readFolderBackups(
  place: ReadablePlace,
  siteKey: Buffer,
): Promise<{ backups: FolderBackup[]; cutOff: string[]; failed: unknown }> {
  const backups: FolderBackup[] = [];
  const cutOff: string[] = [];
  let failed: unknown;
  for (const file of await place.list()) {
    try {
      const manifest = await readOwnManifest(place, file, siteKey);
      if (manifest !== undefined) backups.push({ file, manifest });
    } catch (error) {
      if (error instanceof PlaceUnavailable) throw error;
      if (!(error instanceof NotWhole)) failed ??= error;
      cutOff.push(basename(file));
    }
  }
  backups.sort((left, right) => Date.parse(right.manifest.madeAt) - Date.parse(left.manifest.madeAt));
  return { backups, cutOff, failed };
}

/** Finds the newest state that is not after a moment. Throws NoSuchState. */
export async function findState(
  place: ReadablePlace,
  siteKey: Buffer,
  moment: Date | undefined,
): Promise<StateInFolder> {
  const { backups, cutOff } = await readFolderBackups(place, siteKey);
  const [newest] = backups;
  const chosen = backups.find(
    ({ manifest }) => moment === undefined || Date.parse(manifest.madeAt) <= moment.getTime(),
  );
  const ignored = cutOff.length === 0 ? '' : `; these files are damaged or cut off: ${cutOff.slice(0, 3).join(', ')}`;
  if (newest === undefined) throw new NoSuchState(`${place.name} has no backup that this site key made${ignored}`);
  if (chosen === undefined)
    throw new NoSuchState(`the oldest backup in ${place.name} is of ${backups.at(-1)!.manifest.madeAt}${ignored}`);
  const holders = mapHolders(backups);
  const used = listUsedBackups(chosen.manifest);
  const missing = used.filter((id) => !holders.has(id));
  if (missing.length > 0) {
    const names = new Map((chosen.manifest.builtOn ?? []).map(({ id, file }) => [id, file]));
    throw new NoSuchState(
      `${chosen.file} builds on backups that are not in ${place.name}: ` +
        `${missing.map((id) => names.get(id) ?? id).join(', ')}${ignored}; bring them there, or name an earlier time`,
    );
  }
  const bases = new Set(used.map((id) => holders.get(id)!.file));
  return { file: chosen.file, bases: [...bases].filter((file) => file !== chosen.file), newest };
}

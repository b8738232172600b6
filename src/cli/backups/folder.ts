// Manages backups that are named by their time: names new files, and merges or removes old ones.
import { backupNameAt, readFolderBackups, type FolderBackup } from '#backup/folder.ts';
import { mergeBackups, planMerges, type MergeOptions } from '#backup/merge.ts';
import type { BackupPlace } from '#backup/place.ts';
import { after, days, hours, seconds, timestamp } from '#domain/clock.ts';

/** The file to write, named by the time, or by the next second without a file, which another store may have made. */
export async function newBackupFile(place: BackupPlace, now: Date): Promise<string> {
  const file = `${place.name}/${backupNameAt(now)}`;
  return (await place.has(file)) ? newBackupFile(place, after(now, seconds(1))) : file;
}

/** Decides about the backups of a folder, newest first. */
export type BackupRetention = (madeAt: Date) => boolean;

/** Keeps the newest backups. */
export function keepNewest(count: number): BackupRetention {
  let keptCount = 0;
  return () => keptCount++ < count;
}

/**
 * Keeps every backup of the last day, the last one of each hour of a week, and the last one of each day of a quarter. An hour or a day is
 * thinned when all of it is old, so its backups are merged once, and not again with each backup that gets old.
 */
export function keepThinned(now: Date): BackupRetention {
  const slots = new Set<string>();
  return (madeAt) => {
    const [day, hour] = timestamp(madeAt).split(':')[0]!.split('T') as [string, string];
    const ageOf = (start: string, length: number): number => now.getTime() - Date.parse(start) - length;
    if (ageOf(`${day}T${hour}:00Z`, hours(1)) < days(1)) return true;
    if (now.getTime() - madeAt.getTime() >= days(92)) return false;
    const slot = ageOf(`${day}T00:00Z`, days(1)) < days(7) ? `${day}T${hour}` : day;
    const isLast = !slots.has(slot);
    slots.add(slot);
    return isLast;
  };
}

/**
 * Removes the backups that a rule does not keep; returns the removed files. Keeps files with other names, backups of other stores, and full
 * backups that a kept one builds on. An increment that a kept one builds on stays too or, with `merges`, is merged into the oldest such one
 * first. Decides about all before it removes one: if the clock was set back, the names are not in order.
 */
export async function removeOldBackups(
  place: BackupPlace,
  isKept: BackupRetention,
  {
    siteKey,
    merges: merging,
  }: { siteKey: Buffer; merges?: Pick<MergeOptions, 'workspace' | 'sign' | 'signal'> | undefined },
): Promise<string[]> {
  const { backups, failed } = await place.asCaller(() => readFolderBackups(place, siteKey));
  // A backup that cannot be read now may build on any other.
  if (failed !== undefined) throw failed as Error;
  const keptBackups = backups.filter(({ manifest }) => isKept(new Date(manifest.madeAt)));
  const { merges, unused } = planMerges(backups, keptBackups);
  const removed: string[] = [];
  const remove = async (old: readonly FolderBackup[]): Promise<void> => {
    const files = old.map(({ file }) => file);
    await place.asCaller(() => place.remove(files));
    removed.push(...files);
  };
  await remove(unused);
  if (merging === undefined) return removed;
  const problems: unknown[] = [];
  for (const merge of merges) {
    try {
      await mergeBackups(merge, { place, siteKey, ...merging });
      await remove(merge.parts);
    } catch (error) {
      merging.signal?.throwIfAborted();
      // A part that is damaged stays, with all that build on it, and must not keep the others.
      problems.push(error);
    }
  }
  if (problems.length > 0) throw problems[0] as Error;
  return removed;
}

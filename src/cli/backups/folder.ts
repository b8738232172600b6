// Manages a folder of backups that are named by their time: names new files, and removes all but the newest.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { closeArchives, openArchives } from '#backup/archives.ts';
import { readManifest, type Manifest } from '#backup/manifest.ts';
import { syncFolder } from '#files/durable-streams.ts';
import type { OpenStore } from '../frame/store.ts';

/** The file to write; in a folder it is named by the time, such as `larder-20261122T014500Z.tar`. */
export function backupFileAt(path: string, now: Date): { file: string; folder: string | undefined } {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!isFolder) return { file: path, folder: undefined };
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return { file: join(path, `larder-${time}.tar`), folder: path };
}

/**
 * Removes all but the newest backups; returns the removed files. Keeps files with other names, backups of other stores, and
 * backups that a kept one builds on.
 */
export async function removeOldBackups(
  folder: string,
  keep: number,
  { asCaller, siteKey }: Pick<OpenStore, 'asCaller' | 'siteKey'>,
): Promise<string[]> {
  return asCaller(async () => {
    const files = readdirSync(folder)
      .filter((name) => /^larder-\d{8}T\d{6}Z\.tar$/.test(name))
      .sort()
      .reverse()
      .map((name) => join(folder, name));
    const builtOn = new Set<string>();
    const removed: string[] = [];
    let keptCount = 0;
    for (const file of files) {
      const manifest = await ownManifest(file, siteKey);
      if (manifest === undefined) continue;
      if (keptCount < keep || builtOn.has(manifest.id)) {
        for (const { backup } of manifest.blobs) builtOn.add(backup);
        keptCount += 1;
      } else {
        rmSync(file);
        removed.push(file);
      }
    }
    if (removed.length > 0) await syncFolder(folder);
    return removed;
  });
}

/** Reads the manifest of a backup; undefined if the file is not a backup of this store. */
async function ownManifest(file: string, siteKey: Buffer): Promise<Manifest | undefined> {
  try {
    const archives = await openArchives([file]);
    return await readManifest(file, archives[0]!.tar, siteKey).finally(() => closeArchives(archives));
  } catch {
    return undefined;
  }
}

// Watches a folder, filled by a courier or a link, and receives complete transfers without a command. The files stay in place, and settled
// files are not read again.
import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { isDesktopFile } from '#files/desktop-files.ts';
import { maxOpenFiles, type WatchedFilesResult } from './watched-files.ts';

export interface TransferFolderWatchOptions {
  /** The folder; undefined if none is watched. */
  folder: () => string | undefined;
  /** Receives the complete transfers in these files. */
  take: (files: readonly string[]) => Promise<WatchedFilesResult>;
  /** Called with the files that could not be received, or undefined if there are none. */
  report: (problem: string | undefined) => void;
}

/** The result of one check. */
export interface FolderWatchResult extends Record<string, unknown> {
  /** Number of received transfers. */
  taken?: number;
  /** Number of imported feeds. */
  feeds?: number;
}

/** Maximum number of files to check. */
const maxFiles = 1000;
/** Number of checks between retries of refused files. The cause may be gone. */
const checksPerRetry = 120;
/** Maximum number of failed files to name. */
const maxNamedFiles = 3;

/** Returns a function that checks the folder once. It is called at an interval and does not read the files itself. */
export function watchFolder(watching: TransferFolderWatchOptions): () => Promise<FolderWatchResult> {
  // By path: the state of each file at the last check, and when it was settled. A file that is still being written changes between two
  // checks.
  let before = new Map<string, string>();
  const settled = new Map<string, string>();
  const refused = new Map<string, string>();
  let looks = 0;
  // The last incomplete set of files. Nothing is read again until it changes.
  let incomplete = '';
  return async () => {
    const folder = watching.folder();
    if (folder === undefined) return {};
    const now = await filesIn(folder);
    for (const tracked of [settled, refused])
      for (const path of tracked.keys()) if (!now.has(path)) tracked.delete(path);
    if (++looks % checksPerRetry === 0) for (const path of refused.keys()) settled.delete(path);
    const ready = [...now].filter(([path, as]) => before.get(path) === as && settled.get(path) !== as);
    before = now;
    // A refused file may have been removed.
    watching.report(formatRefused(refused));
    const snapshot = JSON.stringify(ready);
    if (ready.length === 0 || snapshot === incomplete) return {};
    const settledCount = settled.size;
    const { taken, feeds, files, fault } = await watching.take(ready.slice(0, maxOpenFiles).map(([path]) => path));
    for (const { file: path, why: reason } of files) {
      settled.set(path, now.get(path) ?? '');
      if (reason === null) refused.delete(path);
      else refused.set(path, reason);
    }
    if (settled.size === settledCount && taken === 0 && fault === null) incomplete = snapshot;
    watching.report(formatRefused(refused));
    if (fault !== null) throw new Error(`cannot receive the transfers in ${folder}: ${fault}`);
    return { ...(taken > 0 && { taken }), ...(feeds > 0 && { feeds }) };
  };
}

const formatRefused = (refused: ReadonlyMap<string, string>): string | undefined =>
  refused.size === 0
    ? undefined
    : [...refused]
        .slice(0, maxNamedFiles)
        .map(([path, reason]) => `${path} in the watched folder was not received: ${reason}`)
        .join(' ');

/** Transfers, and feeds of advisories. */
const extensions = /\.(?:tar|tar\.gz|tgz|tar\.zst|zip|json)$/i;

/** Returns the files with the extension of transfers or feeds, with the state of each. */
export async function filesIn(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const name of (await readdir(folder)).sort()) {
    if (!extensions.test(name)) continue;
    const path = join(folder, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || isDesktopFile(path)) continue;
    files.set(path, `${String(stats.ino)} ${String(stats.size)} ${String(stats.mtimeMs)}`);
    if (files.size >= maxFiles) break;
  }
  return files;
}

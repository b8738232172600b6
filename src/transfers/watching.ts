// Watches a folder, filled by a courier or a link, and receives complete transfers without a command. The files stay in place, and settled
// files are not read again.
import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { isDesktopFile } from '#files/desktop-files.ts';
import { mostOpen, type TakenFiles } from './watched.ts';

export interface Watching {
  /** The folder; undefined if none is watched. */
  folder: () => string | undefined;
  /** Receives the complete transfers in these files. */
  take: (files: readonly string[]) => Promise<TakenFiles>;
  /** Called with the files that could not be received, or undefined if there are none. */
  report: (problem: string | undefined) => void;
}

/** The result of one check. */
export interface Looked extends Record<string, unknown> {
  /** Number of received transfers. */
  taken?: number;
}

/** Maximum number of files to check. */
const mostFiles = 1000;
/** Number of checks between retries of refused files. The cause may be gone. */
const looksBetween = 120;
/** Maximum number of failed files to name. */
const mostNamed = 3;

/** Returns a function that checks the folder once. It is called at an interval and does not read the files itself. */
export function watchFolder(watching: Watching): () => Promise<Looked> {
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
    for (const known of [settled, refused]) for (const path of known.keys()) if (!now.has(path)) known.delete(path);
    if (++looks % looksBetween === 0) for (const path of refused.keys()) settled.delete(path);
    const ready = [...now].filter(([path, as]) => before.get(path) === as && settled.get(path) !== as);
    before = now;
    // A refused file may have been removed.
    watching.report(told(refused));
    const found = JSON.stringify(ready);
    if (ready.length === 0 || found === incomplete) return {};
    const known = settled.size;
    const { taken, files, fault } = await watching.take(ready.slice(0, mostOpen).map(([path]) => path));
    for (const { file: path, why } of files) {
      settled.set(path, now.get(path) ?? '');
      if (why === null) refused.delete(path);
      else refused.set(path, why);
    }
    if (settled.size === known && taken === 0 && fault === null) incomplete = found;
    watching.report(told(refused));
    if (fault !== null) throw new Error(`cannot take in what lies in ${folder}: ${fault}`);
    return taken === 0 ? {} : { taken };
  };
}

const told = (refused: ReadonlyMap<string, string>): string | undefined =>
  refused.size === 0
    ? undefined
    : [...refused]
        .slice(0, mostNamed)
        .map(([path, why]) => `${path} in the watched folder was not taken in: ${why}`)
        .join(' ');

/** Returns the files with the extension of transfers, with the state of each. */
export async function filesIn(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const name of (await readdir(folder)).sort()) {
    if (!/\.tar$/i.test(name)) continue;
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() !== true || isDesktopFile(path)) continue;
    files.set(path, `${String(found.ino)} ${String(found.size)} ${String(found.mtimeMs)}`);
    if (files.size >= mostFiles) break;
  }
  return files;
}

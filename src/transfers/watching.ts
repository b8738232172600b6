// A folder in which others lay transfers, such as one that a courier or a link fills: what is there as a whole is taken in
// without anybody who types. The files stay where they are, and what was taken in or refused is not read again.
import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { isDesktopFile } from '#files/desktop-files.ts';
import { mostOpen, type TakenFiles } from './watched.ts';

export interface Watching {
  /** The folder; nothing where none is watched. */
  folder: () => string | undefined;
  /** Takes in what these files are as a whole. */
  take: (files: readonly string[]) => Promise<TakenFiles>;
  /** Is told what could not be taken in, file by file; nothing once there is no such. */
  report: (problem: string | undefined) => void;
}

/** What a look has come to. */
export interface Looked extends Record<string, unknown> {
  /** How many transfers were taken in. */
  taken?: number;
}

/** So many files of the folder are looked at. */
const mostFiles = 1000;
/** What was refused is tried again after so many looks: what was in its way may be gone. */
const looksBetween = 120;
/** So many that could not be taken in are named. */
const mostNamed = 3;

/** Gives what looks once; it is called again and again, and reads no file itself. */
export function watchFolder(watching: Watching): () => Promise<Looked> {
  // By path, what the file was when it was seen last, and when it was settled; a file that is being written changes between two looks.
  let before = new Map<string, string>();
  const settled = new Map<string, string>();
  const refused = new Map<string, string>();
  let looks = 0;
  // What was there as it is now, and not as a whole: nothing is read again before something else is there.
  let incomplete = '';
  return async () => {
    const folder = watching.folder();
    if (folder === undefined) return {};
    const now = await filesIn(folder);
    for (const known of [settled, refused]) for (const path of known.keys()) if (!now.has(path)) known.delete(path);
    if (++looks % looksBetween === 0) for (const path of refused.keys()) settled.delete(path);
    const ready = [...now].filter(([path, as]) => before.get(path) === as && settled.get(path) !== as);
    before = now;
    // A file that was refused may have been taken away.
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

/** The files whose names end as those of transfers do, with what each of them is now. */
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

// A folder in which others lay transfers, such as one that a courier or a link fills: what is there as a whole is taken in
// without anybody who types. The files stay where they are, and what was taken in or refused is not read again.
import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { Refusal } from '#domain/refusal.ts';
import { NotATransfer } from './form/not-a-transfer.ts';
import { openPart, type OpenPart } from './form/read.ts';
import { isRequest } from './request/form.ts';

export interface Watching {
  /** The folder; nothing where none is watched. */
  folder: () => string | undefined;
  /** Takes in the parts of one transfer, all of which are there. */
  take: (parts: readonly OpenPart[]) => Promise<void>;
  /** Is told what could not be taken in, file by file; nothing once there is no such. */
  report: (problem: string | undefined) => void;
  signal: AbortSignal;
}

/** What a look has come to. */
export interface Looked extends Record<string, unknown> {
  /** How many transfers were taken in. */
  taken?: number;
}

/** So many files of the folder are looked at. */
const mostFiles = 1000;
/** So many are open at a time: each holds a statement. */
const mostOpen = 256;
/** What was refused is tried again after so many looks: what was in its way may be gone. */
const looksBetween = 120;
/** So many that could not be taken in are named. */
const mostNamed = 3;

/** Gives what looks once; it is called again and again. */
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
    const found = JSON.stringify(ready);
    if (ready.length === 0 || found === incomplete) return {};
    const known = settled.size;
    const taken = await takeWhole(ready, watching, (path, why) => {
      settled.set(path, now.get(path) ?? '');
      if (why === undefined) refused.delete(path);
      else refused.set(path, why);
    });
    if (settled.size === known && taken === 0) incomplete = found;
    watching.report(told(refused));
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
async function filesIn(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const name of (await readdir(folder)).sort()) {
    if (!/\.tar$/i.test(name)) continue;
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() !== true) continue;
    files.set(path, `${String(found.ino)} ${String(found.size)} ${String(found.mtimeMs)}`);
    if (files.size >= mostFiles) break;
  }
  return files;
}

/** Takes in what is there as a whole; how many transfers that were. */
async function takeWhole(
  ready: readonly (readonly [path: string, as: string])[],
  { take, signal }: Watching,
  settle: (path: string, why?: string) => void,
): Promise<number> {
  const open: OpenPart[] = [];
  let taken = 0;
  try {
    for (const [path] of ready.slice(0, mostOpen)) {
      signal.throwIfAborted();
      await tried(
        async () => {
          // It lies on the same stick as the transfers that answer it.
          if (await isRequest(path)) settle(path);
          else open.push(await openPart(path));
        },
        (why) => {
          settle(path, why);
        },
      );
    }
    for (const parts of Map.groupBy(open, ({ id }) => id).values()) {
      const numbers = new Set(parts.map(({ part }) => part));
      if (numbers.size < parts[0]!.statement.parts.length) continue;
      signal.throwIfAborted();
      const isTaken = await tried(
        () => take(parts),
        (why) => {
          for (const { file } of parts) settle(file, why);
        },
      );
      if (!isTaken) continue;
      taken++;
      for (const { file } of parts) settle(file);
    }
    return taken;
  } finally {
    await Promise.all(open.map((part) => part.close()));
  }
}

/** Does something with a file of others: what is wrong with the file is told; anything else is our fault, and is tried again. */
async function tried(work: () => Promise<unknown>, wrong: (why: string) => void): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof NotATransfer)) throw error;
    wrong(error.message);
    return false;
  }
}

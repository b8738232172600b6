// Sorts the files to import by their content, not by their names, into snaps and assertions.
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { parseStream } from '#assertions/assertion.ts';
import { AssertionPool } from '#assertions/pool.ts';
import { checkAssertion } from '#assertions/types.ts';
import { Refusal } from '#domain/refusal.ts';
import { isDesktopFile } from '#files/desktop-files.ts';
import { readAssertionFile } from '../../assertion/file.ts';
import { Failure } from '../../frame/command.ts';
import { cannotRead } from '../../frame/outside.ts';

/** A file that is not imported or not read, with the reason. */
export interface Told {
  file: string;
  why: string;
}

export interface Gathered {
  /** The paths of the snaps. */
  snaps: string[];
  pool: AssertionPool;
  refused: Told[];
  /** Ignored entries of a folder. */
  passedOver: Told[];
}

/** More files than any store has revisions; a folder with more is a mistake. */
const mostFiles = 100_000;

/** Sorts the named files and all files in named folders, at any depth, by their first bytes. */
export function gather(named: readonly string[]): Gathered {
  const gathered: Gathered = { snaps: [], pool: new AssertionPool(), refused: [], passedOver: [] };
  let count = 0;
  const visit = (path: string, isNamed: boolean): void => {
    if (++count > mostFiles) {
      throw new Failure(`there are more than ${String(mostFiles)} files in what was named; name a folder with less`);
    }
    try {
      const found = statSync(path);
      if (found.isDirectory()) {
        const entries = readdirSync(path, { withFileTypes: true });
        for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
          if (isDesktopFile(join(path, entry.name))) continue;
          if (entry.isSymbolicLink())
            gathered.passedOver.push({ file: join(path, entry.name), why: 'a symbolic link' });
          else visit(join(path, entry.name), false);
        }
      } else if (found.isFile()) sort(path, isNamed, gathered);
      else gathered[isNamed ? 'refused' : 'passedOver'].push({ file: path, why: 'neither a file nor a folder' });
    } catch (error) {
      gathered.refused.push({ file: path, why: whyNot(cannotRead(path, error)) });
    }
  };
  for (const path of new Set(named)) visit(path, true);
  return gathered;
}

function sort(path: string, isNamed: boolean, { snaps, pool, refused, passedOver }: Gathered): void {
  const begin = beginOf(path);
  if (begin.startsWith('hsqs')) snaps.push(path);
  else if (begin.startsWith('type: ') || path.endsWith('.assert')) {
    for (const assertion of parseStream(readAssertionFile(path))) {
      checkAssertion(assertion);
      const other = pool.add(assertion, path);
      if (other !== undefined)
        refused.push({ file: path, why: `It holds another text than ${other} of one assertion.` });
    }
  } else {
    const why = 'neither a snap nor assertions';
    (isNamed || path.endsWith('.snap') ? refused : passedOver).push({ file: path, why });
  }
}

function beginOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const begin = Buffer.alloc(6);
    return begin.toString('latin1', 0, readSync(file, begin));
  } finally {
    closeSync(file);
  }
}

/** Returns the message of a refusal; throws an internal error again. */
export function whyNot(error: unknown): string {
  const isSaid = error instanceof Refusal || (error instanceof Failure && error.code !== 'interrupted');
  if (isSaid) return error.message;
  throw error;
}

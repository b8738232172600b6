// Sorts the files to import by their content, not by their names, into snaps and assertions.
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { parseStream } from '#assertions/format/assertion.ts';
import { AssertionPool } from '#assertions/assertion-pool.ts';
import { checkAssertion } from '#assertions/format/types.ts';
import { Refusal } from '#domain/refusal.ts';
import { isDesktopFile } from '#files/desktop-files.ts';
import { readAssertionFile } from '../../assertions/read-file.ts';
import { Failure } from '../../frame/command.ts';
import { toReadFailure } from '../../frame/outside-files.ts';

/** A file that is not imported or not read, with the reason. */
export interface SkippedImportFile {
  file: string;
  why: string;
}

export interface SortedImportFiles {
  /** The paths of the snaps. */
  snaps: string[];
  pool: AssertionPool;
  refused: SkippedImportFile[];
  /** Ignored entries of a folder. */
  passedOver: SkippedImportFile[];
}

/** More files than any store has revisions; a folder with more is a mistake. */
const maxFiles = 100_000;

/** Sorts the named files and all files in named folders, at any depth, by their first bytes. */
export function sortImportFiles(paths: readonly string[]): SortedImportFiles {
  const gathered: SortedImportFiles = { snaps: [], pool: new AssertionPool(), refused: [], passedOver: [] };
  let count = 0;
  const visit = (path: string, isNamed: boolean): void => {
    if (++count > maxFiles) {
      throw new Failure(`there are more than ${String(maxFiles)} files; name a smaller folder`);
    }
    try {
      const stats = statSync(path);
      if (stats.isDirectory()) {
        const entries = readdirSync(path, { withFileTypes: true });
        for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
          if (isDesktopFile(join(path, entry.name))) continue;
          if (entry.isSymbolicLink())
            gathered.passedOver.push({ file: join(path, entry.name), why: 'a symbolic link' });
          else visit(join(path, entry.name), false);
        }
      } else if (stats.isFile()) sortFile(path, isNamed, gathered);
      else gathered[isNamed ? 'refused' : 'passedOver'].push({ file: path, why: 'neither a file nor a folder' });
    } catch (error) {
      gathered.refused.push({ file: path, why: describeRefusal(toReadFailure(path, error)) });
    }
  };
  for (const path of new Set(paths)) visit(path, true);
  return gathered;
}

function sortFile(path: string, isNamed: boolean, { snaps, pool, refused, passedOver }: SortedImportFiles): void {
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
    const reason = 'neither a snap nor assertions';
    (isNamed || path.endsWith('.snap') ? refused : passedOver).push({ file: path, why: reason });
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
export function describeRefusal(error: unknown): string {
  const isForAdministrator = error instanceof Refusal || (error instanceof Failure && error.code !== 'interrupted');
  if (isForAdministrator) return error.message;
  throw error;
}

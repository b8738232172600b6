// The roots of trust: the assertions in the files that the configuration names, or Canonical's.
import { readFileSync } from 'node:fs';

import { readRoots, type Roots } from './chain.ts';
import { canonicalRoots } from './roots.ts';
import { Refusal } from '#domain/refusal.ts';

/** Reads the files; none at all means the roots of the public online store. */
export function readTrusted(files: readonly string[]): Roots {
  if (files.length === 0) return readRoots(canonicalRoots);
  // One empty line between assertions, however many newlines a file ends with.
  const texts = files.map((file) => readFile(file).replace(/\n+$/, ''));
  try {
    return readRoots(`${texts.join('\n\n')}\n`);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Error(`cannot trust what is in ${files.join(', ')}: ${error.message}`, { cause: error });
  }
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot read the roots of trust in ${file}`, { cause: error });
  }
}

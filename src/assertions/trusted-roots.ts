// Loads the trusted roots from the configured files, or Canonical's by default.
import { readFileSync } from 'node:fs';

import { readRoots, type Roots } from './chain.ts';
import { canonicalRoots } from './canonical-roots.ts';
import { Refusal } from '#domain/refusal.ts';

/** Reads the files. Without files, returns the roots of the public online store. */
export function readTrusted(files: readonly string[]): Roots {
  if (files.length === 0) return readRoots(canonicalRoots);
  // Separate assertions by one empty line, regardless of the newlines at the end of each file.
  const texts = files.map((file) => readFile(file).replace(/\n+$/, ''));
  try {
    return readRoots(`${texts.join('\n\n')}\n`);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Error(`cannot use the roots of trust in ${files.join(', ')}: ${error.message}`, { cause: error });
  }
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot read the roots of trust in ${file}`, { cause: error });
  }
}

// Runs named files of tests by test/run.ts, in the environment of this process.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';

import { root } from './lanes.ts';

/** A pattern for each alternative of its braces. */
function alternativesOf(pattern: string): string[] {
  const [, before = '', list, after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(pattern) ?? [];
  return list === undefined ? [pattern] : list.split(',').map((name) => `${before}${name}${after}`);
}

/** The files that the patterns match, as paths below test/. An alternative without a file is an error: its file was moved or is misspelt. */
export const findTestFiles = (patterns: readonly string[]): string[] =>
  patterns.flatMap(alternativesOf).flatMap((pattern) => {
    const files = globSync(pattern, { cwd: join(root, 'test') });
    if (files.length === 0) throw new Error(`No test matches '${pattern}'.`);
    return files.sort();
  });

/** Files are paths below test/. Returns the exit code. */
export function runFiles(files: readonly string[]): number {
  const paths = files.map((file) => join(root, 'test', file));
  return spawnSync(process.execPath, [join(root, 'test/run.ts'), ...paths], { stdio: 'inherit' }).status ?? 1;
}

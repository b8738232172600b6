// Runs named files of tests by test/run.ts, in the environment of this process.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { root } from './lanes.ts';

/** Files are paths below test/. Returns the exit code. */
export function runFiles(files: readonly string[]): number {
  const paths = files.map((file) => join(root, 'test', file));
  return spawnSync(process.execPath, [join(root, 'test/run.ts'), ...paths], { stdio: 'inherit' }).status ?? 1;
}

// Debian's xdelta3, which snapd calls.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

export const digest = (bytes: Uint8Array): string => createHash('sha3-384').update(bytes).digest('hex');

/** The digest of the file that xdelta3 makes of `old` and a delta, called as snapd calls it. */
export function byXdelta3(path: (name: string) => string, delta: Uint8Array): string {
  writeFileSync(path('delta'), delta);
  execFileSync('xdelta3', ['-d', '-f', '-s', path('old'), path('delta'), path('rebuilt')], { stdio: 'pipe' });
  return digest(readFileSync(path('rebuilt')));
}

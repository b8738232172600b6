// The commit of a build, which `larder version`, the bill of materials and the console name.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The commit of the sources in a folder, in 40 hex digits: LARDER_COMMIT, or the one that git has checked out there. Undefined for sources
 * without history, such as an unpacked archive, and for a checkout with changes, because no commit has those sources.
 */
export function commitOf(folder: string): string | undefined {
  const stated = process.env['LARDER_COMMIT'];
  if (stated !== undefined) {
    if (!/^[0-9a-f]{40}$/.test(stated))
      throw new Error('cannot build: LARDER_COMMIT must be a commit in 40 hex digits');
    return stated;
  }
  if (!existsSync(join(folder, '.git'))) return undefined;
  const git = (...args: string[]): string => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();
  return git('status', '--porcelain', '--untracked-files=no') === '' ? git('rev-parse', 'HEAD') : undefined;
}

// Images that Debian's squashfs-tools make.
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';

import { withoutPrograms } from '#test/fixtures/programs.ts';
import type { FileTree } from '#test/fixtures/packages/squashfs-image.ts';

export const withoutSquashfsTools = withoutPrograms('mksquashfs');
export const withoutXz = withoutPrograms('xz');

/** What `snap pack` gives to mksquashfs, for one of its two compressions. */
export const asSnapPack = (compression: 'xz' | 'lzo') => [
  '-comp',
  compression,
  '-no-fragments',
  '-all-root',
  '-no-xattrs',
];

export function grow(folder: string, tree: FileTree): string {
  for (const [path, content] of Object.entries(tree)) {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    // The files in bin/ are run, so they are executable.
    const mode = path.startsWith('bin/') ? 0o755 : 0o644;
    if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(place, content, { mode });
    else symlinkSync(content.link, place);
  }
  return folder;
}

/** Packs a folder; answers the image's path. */
export function packFolder(folder: string, options: string[]): string {
  const image = `${folder}.snap`;
  execFileSync('mksquashfs', [folder, image, '-noappend', '-no-progress', '-quiet', ...options], { stdio: 'pipe' });
  return image;
}

/** Packs files with these options. */
export const packWith = (t: Test, tree: FileTree, options: string[]): string =>
  packFolder(grow(join(t.testdir({}), 'tree'), tree), options);

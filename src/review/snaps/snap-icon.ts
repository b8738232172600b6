// Finds the icon of a snap in meta/gui. A snap works without an icon, so an unusable file only gives a notice.
import { posix } from 'node:path';

import { maxIconBytes, maxIconSide, minIconSide, readIcon } from '../icon.ts';
import { cleanPath } from '../snap-rules/paths.ts';
import type { Image } from '../squashfs/image.ts';
import type { Inode } from '../squashfs/inode.ts';
import { quoted } from '../unacceptable.ts';
import type { SnapIcon } from '../verdict.ts';

const folder = 'meta/gui';
/** In the order of the search. */
export const iconFiles = ['icon.png', 'icon.jpg', 'icon.jpeg', 'icon.svg'];

interface IconReading {
  icon: SnapIcon | null;
  /** Which files were not used, and why. */
  notices: string[];
}

/** The first file that is a picture; `gui` maps names to the files in meta/gui. */
export function readSnapIcon(image: Image, gui: ReadonlyMap<string, Inode>): IconReading {
  const notices: string[] = [];
  for (const name of iconFiles) {
    const inode = gui.get(name);
    if (inode === undefined) continue;
    const icon = readIconFile(image, inode);
    if (typeof icon !== 'string') return { icon, notices };
    notices.push(
      `${folder}/${name} is not used as the icon: ${icon}. Use an SVG, or a PNG or JPEG with sides of ${String(minIconSide)} to ${String(maxIconSide)} pixels, of at most ${String(maxIconBytes)} bytes.`,
    );
  }
  return { icon: null, notices };
}

/** The icon, or why the file is not one. */
function readIconFile(image: Image, inode: Inode): SnapIcon | string {
  const file = inode.kind === 'symlink' ? linkedFile(image, inode.target) : inode;
  if (file?.kind !== 'file') {
    return inode.kind === 'symlink'
      ? `it is a link to ${quoted(inode.target)}, which is no file in the snap`
      : 'it is not a file';
  }
  if (file.size === 0) return 'it is empty';
  if (file.size > maxIconBytes) return `it has ${String(file.size)} bytes`;
  return readIcon(image.read(file, maxIconBytes));
}

/** The target of a link in meta/gui within the snap. Links in the path, or a second link, are not followed. */
function linkedFile(image: Image, target: string): Inode | undefined {
  const path = cleanPath(target).startsWith('/') ? '..' : cleanPath(posix.join(folder, target));
  let inode: Inode = image.root;
  for (const part of path.split('/')) {
    const name = Buffer.from(part).toString('latin1');
    const inner: Inode | undefined = inode.kind === 'directory' ? image.find(inode, [name]).get(name) : undefined;
    if (inner === undefined) return undefined;
    inode = inner;
  }
  return inode;
}

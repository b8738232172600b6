// Checks that the list of a snap's files can be parsed: a device lists them with unsquashfs, one per line (snapd's
// snap/squashfs/squashfs.go, Walk), and refuses a snap with any other line.
import type { Image } from '../squashfs/image.ts';
import type { Directory, Inode } from '../squashfs/inode.ts';
import { quoted } from '../unacceptable.ts';
import type { Faults } from './fields.ts';

/** The maximum number of files and folders to check, so that a review of very many takes seconds. */
const maxListed = 100_000;
const maxDepth = 100;

/** Adds the first file that would break the list. Throws `Unacceptable` if the list cannot be read. */
export function checkListing(image: Image, container: string, faults: Faults): void {
  let left = maxListed;

  /** The sentence for the first such file in a folder; paths have one character per byte. */
  function findFault(folder: Directory, above: string, depth: number): string | undefined {
    for (const entry of image.entries(folder)) {
      if (--left < 0) return undefined;
      const path = `${above}${entry.name}`;
      const inode = image.inode(entry);
      const problem = problemOf(entry.name, inode);
      if (problem !== undefined)
        return `${quoted(Buffer.from(path, 'latin1').toString())} in the ${container} ${problem}, which no device can read: replace it.`;
      const inner =
        inode.kind === 'directory' && depth < maxDepth ? findFault(inode, `${path}/`, depth + 1) : undefined;
      if (inner !== undefined) return inner;
    }
    return undefined;
  }

  const fault = findFault(image.root, '', 1);
  if (fault !== undefined) faults.add(fault);
}

function problemOf(name: string, inode: Inode): string | undefined {
  if (name.includes('\n')) return 'has a line break in its name';
  if (inode.kind !== 'symlink') return undefined;
  if (inode.target === '') return 'is a link without a target';
  return inode.target.includes('\n') ? 'is a link with a line break in its target' : undefined;
}

// Reads the file in meta that describes a snap or a component.
import { utf8 } from '../icon.ts';
import type { Image } from '../squashfs/image.ts';
import type { Directory, Inode } from '../squashfs/inode.ts';
import { Unacceptable, quoted } from '../unacceptable.ts';

/** The longest text that is read; no such file of a working snap is longer. */
export const maxMetaFileBytes = 1 << 20;

export interface MetaFile {
  container: 'snap' | 'component';
  /** Its name in meta. */
  name: 'snap.yaml' | 'component.yaml';
}

/** The folder of the file; throws `Unacceptable` if there is none. */
export function requireMetaFolder(meta: Inode | undefined, file: MetaFile): Directory {
  if (meta === undefined) throw missing(file);
  if (meta.kind === 'directory') return meta;
  throw new Unacceptable(
    `'meta' in the ${file.container} is ${kindOf(meta)}, but must be a directory that holds ${file.name}.`,
  );
}

/** The text of the file; throws `Unacceptable` if there is none or it cannot be read. */
export function readMetaFile(image: Image, inode: Inode | undefined, file: MetaFile): string {
  if (inode === undefined) throw missing(file);
  const path = `meta/${file.name}`;
  if (inode.kind !== 'file') {
    throw new Unacceptable(`${path} in the ${file.container} is ${kindOf(inode)}, but must be a file of its own.`);
  }
  if (inode.size > maxMetaFileBytes) {
    throw new Unacceptable(
      `${path} has ${String(inode.size)} bytes, but at most ${String(maxMetaFileBytes)} are read: shorten it.`,
    );
  }
  const text = utf8(image.read(inode, maxMetaFileBytes));
  if (text === undefined) throw new Unacceptable(`${path} is not text in UTF-8: save it as such.`);
  return text;
}

const missing = ({ container, name }: MetaFile): Unacceptable =>
  new Unacceptable(`The ${container} has no meta/${name}: make it with 'snap pack' or snapcraft, which see to it.`);

function kindOf(inode: Inode): string {
  if (inode.kind === 'symlink') return `a symbolic link to ${quoted(inode.target)}`;
  return { directory: 'a directory', file: 'a file', special: 'a device, pipe or socket' }[inode.kind];
}

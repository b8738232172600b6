// Reads squashfs 4.0 images, the file system inside a snap. All input is untrusted: every length has a limit and every
// position is checked before use. Links are never followed, and nothing is extracted. The format: the kernel's
// Documentation/filesystems/squashfs.rst and the layout that mksquashfs 4 writes.
import { unpackerOf } from './compression.ts';
import { contentsReader } from './contents.ts';
import { corruptImage } from './corrupt-image.ts';
import { entriesOf, type SquashfsEntry } from './directory.ts';
import { readInode, type Directory, type Inode, type RegularFile } from './inode.ts';
import { metadataTable } from './metadata.ts';
import type { UploadBytes } from './source.ts';
import { readSuperblock } from './superblock.ts';

export interface Image {
  root: Directory;
  /** The inodes of these names in a directory; missing names are left out. One pass over the listing. */
  find(directory: Directory, names: readonly string[]): Map<string, Inode>;
  entries(directory: Directory): Iterable<SquashfsEntry>;
  inode(entry: SquashfsEntry): Inode;
  /** A file's bytes, in their own memory; the file must not be longer than `limit`. */
  read(file: RegularFile, limit: number): Uint8Array;
}

/** Opens an image; throws `Unacceptable` here and in every call if it is not an image, or is corrupt. */
export function openImage(source: UploadBytes): Image {
  const superblock = readSuperblock(source);
  const unpack = unpackerOf(superblock.compression, superblock.blockSize);
  const inodes = metadataTable('inode', source, superblock.inodeTable, unpack);
  const directories = metadataTable('directory', source, superblock.directoryTable, unpack);
  const contents = contentsReader(source, superblock, unpack);
  const inode = (entry: SquashfsEntry) => readInode(inodes, entry.inode, entry.type);
  const entries = (directory: Directory) => entriesOf(directories, directory);

  const root = readInode(inodes, superblock.root, 1);
  if (root.kind !== 'directory') throw corruptImage('its root is not a directory');

  return {
    root,
    entries,
    inode,
    find(directory, names) {
      const inodesByName = new Map<string, Inode>();
      for (const entry of entries(directory))
        if (names.includes(entry.name)) inodesByName.set(entry.name, inode(entry));
      return inodesByName;
    },
    read(file, limit) {
      if (file.size > limit) throw new Error(`cannot read a file of ${String(file.size)} bytes into ${String(limit)}`);
      return contents(file);
    },
  };
}

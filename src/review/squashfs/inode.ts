// Reads inodes, which the names in directories refer to. Basic and extended ones differ only in the width of their
// fields.
import { corruptImage } from './corrupt-image.ts';
import type { MetadataTable } from './metadata.ts';
import type { InodeRef } from './superblock.ts';

export type Inode = Directory | RegularFile | Symlink | Special;

/** The permission bits, as in a file mode. */
interface Permissions {
  permissions: number;
}

export interface Directory extends Permissions {
  kind: 'directory';
  /** The start of its listing in the directory table, and its length in bytes. */
  block: number;
  offset: number;
  length: number;
}

export interface RegularFile extends Permissions {
  kind: 'file';
  size: number;
  /** The position of its first block in the image. */
  start: number;
  /** The position of its tail, if that shares a block with the tails of other files. */
  fragment: { index: number; offset: number } | undefined;
  /** The length words of its blocks; read only when the file is. */
  blockWords(count: number): Uint32Array;
}

export interface Symlink extends Permissions {
  kind: 'symlink';
  target: string;
}

/** A device, pipe or socket. */
export interface Special extends Permissions {
  kind: 'special';
}

/** The types in directory entries; the type of an extended inode is seven higher. */
const kinds = ['directory', 'file', 'symlink', 'special', 'special', 'special', 'special'] as const;
const extendedFrom = 8;
const noFragment = 0xffff_ffff;
const longestTarget = 4096;
/** A listing's length counts `.` and `..`, which are not in it, as three bytes. */
const dots = 3;

/** Reads the inode at `ref`, with the `type` (1 to 7) of its directory entry. */
export function readInode(inodes: MetadataTable, ref: InodeRef, type: number): Inode {
  const cursor = inodes.at(ref.block, ref.offset);
  const own = cursor.u16();
  const extended = own >= extendedFrom;
  const kind = kinds[type - 1];
  if (kind === undefined || own - (extended ? kinds.length : 0) !== type) {
    throw corruptImage('a directory entry and its inode have different types');
  }
  const permissions = cursor.u16() & 0o777;
  cursor.bytes(12); // owner, group, time, number: not needed by a review

  if (kind === 'directory') {
    if (!extended) {
      const block = cursor.u32();
      cursor.u32(); // links
      const length = cursor.u16();
      return { kind, permissions, block, offset: cursor.u16(), length: Math.max(0, length - dots) };
    }
    cursor.u32(); // links
    const length = cursor.u32();
    const block = cursor.u32();
    cursor.bytes(6); // parent, entries in the index
    return { kind, permissions, block, offset: cursor.u16(), length: Math.max(0, length - dots) };
  }

  if (kind === 'file') {
    const wide = () => {
      const value = cursor.u64();
      if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw corruptImage('a file in it has an impossible place or length');
      return Number(value);
    };
    const start = extended ? wide() : cursor.u32();
    const longSize = extended ? wide() : 0;
    if (extended) cursor.bytes(12); // bytes in holes, links
    const index = cursor.u32();
    const offset = cursor.u32();
    const size = extended ? longSize : cursor.u32();
    if (extended) cursor.u32(); // xattrs
    return {
      kind,
      permissions,
      size,
      start,
      fragment: index === noFragment ? undefined : { index, offset },
      blockWords: (count) => Uint32Array.from({ length: count }, () => cursor.u32()),
    };
  }

  if (kind === 'symlink') {
    cursor.u32(); // links
    const length = cursor.u32();
    if (length > longestTarget) throw corruptImage('a symbolic link in it is too long');
    return { kind, permissions, target: new TextDecoder().decode(cursor.bytes(length)) };
  }
  return { kind, permissions };
}

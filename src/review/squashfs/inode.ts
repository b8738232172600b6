// An inode: what a name in a directory stands for. Basic and extended ones differ only in the width of their fields.
import { damaged } from './damaged.ts';
import type { Table } from './metadata.ts';
import type { InodeRef } from './superblock.ts';

export type Inode = Directory | RegularFile | Symlink | Special;

/** The bits that say who may read, write and run it, as in a file mode. */
interface Permissions {
  permissions: number;
}

export interface Directory extends Permissions {
  kind: 'directory';
  /** Where its listing begins in the directory table, and how many bytes it has. */
  block: number;
  offset: number;
  length: number;
}

export interface RegularFile extends Permissions {
  kind: 'file';
  size: number;
  /** Where its first block lies in the image. */
  start: number;
  /** Where its end lies, when that shares a block with the ends of other files. */
  fragment: { index: number; offset: number } | undefined;
  /** The words that tell the length of each of its own blocks, in the image; read only when the file is. */
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

/** The types that a directory entry gives; an extended inode's own type is seven higher. */
const kinds = ['directory', 'file', 'symlink', 'special', 'special', 'special', 'special'] as const;
const extendedFrom = 8;
const noFragment = 0xffff_ffff;
const longestTarget = 4096;
/** A listing's length counts `.` and `..`, which are not in it, as three bytes. */
const dots = 3;

/** Reads the inode at `ref`, which its directory entry says to be of `type` (1 to 7). */
export function readInode(inodes: Table, ref: InodeRef, type: number): Inode {
  const cursor = inodes.at(ref.block, ref.offset);
  const own = cursor.u16();
  const extended = own >= extendedFrom;
  const kind = kinds[type - 1];
  if (kind === undefined || own - (extended ? kinds.length : 0) !== type) {
    throw damaged('a directory entry and its inode disagree about what they are');
  }
  const permissions = cursor.u16() & 0o777;
  cursor.bytes(12); // owner, group, time, number: nothing that a review asks about

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
      if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged('a file in it has an impossible place or length');
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
    if (length > longestTarget) throw damaged('a symbolic link in it is too long');
    return { kind, permissions, target: new TextDecoder().decode(cursor.bytes(length)) };
  }
  return { kind, permissions };
}

// Reads a directory's listing: runs of up to 256 entries, each run with the metadata block of its inodes.
import { Unacceptable } from '../unacceptable.ts';
import { corruptImage } from './corrupt-image.ts';
import type { Directory } from './inode.ts';
import type { MetadataTable } from './metadata.ts';
import type { InodeRef } from './superblock.ts';

export interface SquashfsEntry {
  /** One character per byte of the name, regardless of its encoding. */
  name: string;
  /** 1 to 7, as in the inode. */
  type: number;
  inode: InodeRef;
}

const longestRun = 256;
const longestName = 256;
/** Enough for 100,000 entries with the longest names; too small for a decompression bomb. */
const longestListing = 32 << 20;
const runHeaderSize = 12;
const entryHeaderSize = 8;

/**
 * The entries of a directory, which must be sorted by their bytes, without duplicates. A device finds a name by that
 * order; in an unsorted directory it could find another file than the reviewed one.
 */
export function* entriesOf(
  directories: MetadataTable,
  { block, offset, length }: Directory,
): Generator<SquashfsEntry, void> {
  if (length > longestListing) {
    throw new Unacceptable(
      `A folder in the image has a listing of ${String(length)} bytes, but at most ${String(longestListing)} are taken: put many small files into an archive.`,
    );
  }
  const cursor = directories.at(block, offset);
  let left = length;
  let previous: string | undefined;
  const take = (bytes: number) => {
    left -= bytes;
    if (left < 0) throw corruptImage('a directory ends within an entry');
  };
  while (left > 0) {
    take(runHeaderSize);
    const count = cursor.u32() + 1;
    if (count > longestRun) throw corruptImage('a directory has a run of too many entries');
    const inodeBlock = cursor.u32();
    cursor.u32(); // the number of the run's first inode
    for (let index = 0; index < count; index++) {
      take(entryHeaderSize);
      const inodeOffset = cursor.u16();
      cursor.i16(); // the inode's number, counted from the run's
      const type = cursor.u16();
      const nameLength = cursor.u16() + 1;
      if (nameLength > longestName) throw corruptImage('a name in a directory is too long');
      take(nameLength);
      const name = latin1(cursor.bytes(nameLength));
      if (previous !== undefined && name <= previous) throw corruptImage('the names in a directory are out of order');
      previous = name;
      yield { name, type, inode: { block: inodeBlock, offset: inodeOffset } };
    }
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

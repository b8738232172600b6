// Reads the superblock, the first 96 bytes of a squashfs 4.0 image: its content and the positions of its tables. They
// are checked for consistency before anything else is read.
import { Unacceptable } from '../unacceptable.ts';
import { corruptImage } from './corrupt-image.ts';
import type { UploadBytes } from './source.ts';

export const metadataBlockSize = 8 << 10;

export interface Superblock {
  blockSize: number;
  compression: number;
  fragmentCount: number;
  root: InodeRef;
  bytesUsed: number;
  inodeTable: ImageExtent;
  directoryTable: ImageExtent;
  /** The start of the fragment table's index of 8-byte positions; its metadata blocks are before it. */
  fragmentIndex: number;
}

/** An inode's position: a metadata block, relative to the start of the inode table, and an offset in its unpacked bytes. */
export interface InodeRef {
  block: number;
  offset: number;
}

/** A range of the image from `start` to `end`, exclusive. */
export interface ImageExtent {
  start: number;
  end: number;
}

const length = 96;
const smallestBlock = 4 << 10;
const largestBlock = 1 << 20;
/** No known snap has more; it limits the work that follows. */
const maxInodes = 1 << 20;
export const fragmentsPerMetadataBlock = 512;
/** The position of a table that an image does not have. */
const absent = 0xffff_ffff_ffff_ffffn;

export function readSuperblock(source: UploadBytes): Superblock {
  if (source.size < length) throw notSquashfs();
  const bytes = source.read(0, length);
  const view = new DataView(bytes.buffer);
  const u16 = (at: number) => view.getUint16(at, true);
  const u32 = (at: number) => view.getUint32(at, true);
  const u64 = (at: number) => view.getBigUint64(at, true);

  if (u32(0) !== 0x73717368) throw notSquashfs();
  if (u16(28) !== 4 || u16(30) !== 0) {
    throw new Unacceptable(
      `The file is a squashfs image of version ${String(u16(28))}.${String(u16(30))}, but a snap is one of version 4.0: pack it with 'snap pack' or mksquashfs 4.`,
    );
  }

  const bytesUsed = u64(40);
  if (bytesUsed < BigInt(length)) throw corruptImage('it is said to end within its first block');
  if (bytesUsed > BigInt(source.size)) {
    throw new Unacceptable(
      `The file is cut short: the squashfs image in it has ${String(bytesUsed)} bytes, but ${String(source.size)} were uploaded. Upload it again.`,
    );
  }
  const blockSize = u32(12);
  if (blockSize < smallestBlock || blockSize > largestBlock || 2 ** u16(22) !== blockSize) {
    throw corruptImage(`its block size of ${String(blockSize)} is not a power of two from 4 KiB to 1 MiB`);
  }
  refuseFileCount(u32(4));

  /** A position within the image, after the superblock. */
  const position = (at: number, subject: string) => {
    const value = u64(at);
    if (value < BigInt(length) || value > bytesUsed) throw corruptImage(`${subject} lies outside of it`);
    return Number(value);
  };
  const end = Number(bytesUsed);
  const inodes = position(64, 'its inode table');
  const directories = position(72, 'its directory table');
  const fragmentCount = u32(16);
  const fragmentIndex = fragmentCount === 0 ? end : position(80, 'its fragment table');
  const ids = position(48, 'its id table');
  const xattrs = u64(56) === absent ? end : position(56, 'its xattr table');
  const exported = u64(88) === absent ? end : position(88, 'its export table');
  // Everything after these two tables may be in any order: a table's blocks end at the next table.
  const afterDirectories = Math.min(fragmentIndex, ids, xattrs, exported);
  if (inodes >= directories || directories > afterDirectories) throw corruptImage('its tables are out of order');
  if (fragmentIndex + 8 * Math.ceil(fragmentCount / fragmentsPerMetadataBlock) > end && fragmentCount > 0) {
    throw corruptImage('its fragment table lies outside of it');
  }

  const root = u64(32);
  return {
    blockSize,
    compression: u16(20),
    fragmentCount,
    root: { block: Number(root >> 16n), offset: Number(root & 0xffffn) },
    bytesUsed: end,
    inodeTable: { start: inodes, end: directories },
    directoryTable: { start: directories, end: afterDirectories },
    fragmentIndex,
  };
}

function refuseFileCount(count: number): void {
  if (count === 0) throw corruptImage('it holds no files');
  if (count <= maxInodes) return;
  throw new Unacceptable(
    `The image holds ${String(count)} files and folders, but at most ${String(maxInodes)} are taken: put many small files into an archive.`,
  );
}

function notSquashfs(): Unacceptable {
  return new Unacceptable("The file is not a snap: it is no squashfs image. Make it with 'snap pack' or snapcraft.");
}

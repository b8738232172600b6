// Reads the bytes of a regular file: its blocks, holes, and a tail that may share a block with other files.
import type { Unpack } from './compression.ts';
import { corruptImage } from './corrupt-image.ts';
import type { RegularFile } from './inode.ts';
import { metadataTable } from './metadata.ts';
import type { UploadBytes } from './source.ts';
import { fragmentsPerMetadataBlock, type Superblock } from './superblock.ts';

/** This flag in a block's length word means that its bytes are stored uncompressed. */
const storedFlag = 1 << 24;
const packedSize = (word: number) => (word & ~storedFlag) >>> 0;
const fragmentEntrySize = 16;

/** Reads whole files; the caller must limit their size. */
export function contentsReader(source: UploadBytes, superblock: Superblock, unpack: Unpack) {
  const { blockSize, bytesUsed, fragmentCount, fragmentIndex, directoryTable } = superblock;
  const fragmentExtent = { start: directoryTable.start, end: fragmentIndex };
  const fragments = metadataTable('fragment', source, fragmentExtent, unpack);
  // The small files of a directory mostly share one fragment.
  let latest: { index: number; bytes: Uint8Array } | undefined;

  function block(position: number, word: number, limit: number): Uint8Array {
    const size = packedSize(word);
    if (size === 0 || size > blockSize) throw corruptImage('a block in it has an impossible length');
    if (position + size > bytesUsed) throw corruptImage('a block lies outside of it');
    const bytes = source.read(position, size);
    if ((word & storedFlag) === 0) return unpack(bytes, limit);
    if (size > limit) throw corruptImage('a block in it has an impossible length');
    return bytes;
  }

  function fragment(index: number): Uint8Array {
    if (latest?.index === index) return latest.bytes;
    if (index >= fragmentCount) throw corruptImage('a file in it ends in a fragment that does not exist');
    const pointer = source.read(fragmentIndex + 8 * Math.floor(index / fragmentsPerMetadataBlock), 8);
    const place = new DataView(pointer.buffer).getBigUint64(0, true) - BigInt(fragmentExtent.start);
    if (place < 0n || place > BigInt(fragmentExtent.end)) throw corruptImage('its fragment table lies outside of it');
    const cursor = fragments.at(Number(place), (index % fragmentsPerMetadataBlock) * fragmentEntrySize);
    const start = cursor.u64();
    if (start > BigInt(bytesUsed)) throw corruptImage('a fragment lies outside of it');
    latest = { index, bytes: block(Number(start), cursor.u32(), blockSize) };
    return latest.bytes;
  }

  return (file: RegularFile): Uint8Array => {
    const result = new Uint8Array(file.size);
    const ownBlocks = file.fragment ? Math.floor(file.size / blockSize) : Math.ceil(file.size / blockSize);
    let position = file.start;
    let done = 0;
    for (const word of file.blockWords(ownBlocks)) {
      const length = Math.min(blockSize, file.size - done);
      // A word of 0 is a hole: zeros that take no bytes in the image.
      if (word !== 0) {
        const bytes = block(position, word, length);
        if (bytes.length !== length) throw corruptImage('a block of a file in it has the wrong length');
        result.set(bytes, done);
        position += packedSize(word);
      }
      done += length;
    }
    if (file.fragment && done < file.size) {
      const shared = fragment(file.fragment.index);
      const end = file.fragment.offset + file.size - done;
      if (end > shared.length) throw corruptImage('the end of a file in it lies outside of its fragment');
      result.set(shared.subarray(file.fragment.offset, end), done);
    }
    return result;
  };
}

// Reads metadata blocks, which the inode, directory and fragment tables consist of: up to 8 KiB each, packed one by
// one, read in sequence.
import type { Unpack } from './compression.ts';
import { corruptImage } from './corrupt-image.ts';
import type { UploadBytes } from './source.ts';
import { metadataBlockSize, type ImageExtent } from './superblock.ts';

const headerSize = 2;
/** This flag in a block's header means that its bytes are stored uncompressed. */
const storedFlag = 0x8000;

/** A table of metadata blocks. */
export interface MetadataTable {
  /** Reads from a position: a block, relative to the start of the table, and an offset in its unpacked bytes. */
  at(block: number, offset: number): MetadataCursor;
}

export interface MetadataCursor {
  /** The next bytes, at most 64 KiB at a time; valid until the next call. */
  bytes(count: number): Uint8Array;
  u16(): number;
  i16(): number;
  u32(): number;
  u64(): bigint;
}

interface MetadataBlock {
  position: number;
  next: number;
  bytes: Uint8Array;
}

export function metadataTable(name: string, source: UploadBytes, extent: ImageExtent, unpack: Unpack): MetadataTable {
  // The next request is mostly for the block that was read last.
  let latest: MetadataBlock | undefined;

  function block(position: number): MetadataBlock {
    if (latest?.position === position) return latest;
    if (position < extent.start || position + headerSize >= extent.end) {
      throw corruptImage(`a reference into its ${name} table leads outside of it`);
    }
    const raw = source.read(position, Math.min(headerSize + metadataBlockSize, extent.end - position));
    const header = new DataView(raw.buffer).getUint16(0, true);
    const size = header & ~storedFlag;
    if (size === 0 || size > metadataBlockSize || headerSize + size > raw.length) {
      throw corruptImage(`a block of its ${name} table has an impossible length`);
    }
    const packed = raw.subarray(headerSize, headerSize + size);
    const bytes = (header & storedFlag) === 0 ? unpack(packed, metadataBlockSize) : packed;
    latest = { position, next: position + headerSize + size, bytes };
    return latest;
  }

  return {
    at(start, offset) {
      let current: MetadataBlock | undefined;
      let within = offset;

      function bytes(count: number): Uint8Array {
        current ??= block(extent.start + start);
        if (within > current.bytes.length) throw corruptImage(`a reference into its ${name} table leads outside of it`);
        if (within + count <= current.bytes.length) return current.bytes.subarray(within, (within += count));
        const result = new Uint8Array(count);
        for (let done = 0; done < count;) {
          if (within >= current.bytes.length) {
            if (current.bytes.length === 0) throw corruptImage(`a block of its ${name} table is empty`);
            current = block(current.next);
            within = 0;
          }
          const part = current.bytes.subarray(within, within + count - done);
          result.set(part, done);
          done += part.length;
          within += part.length;
        }
        return result;
      }
      const view = (count: number) => {
        const part = bytes(count);
        return new DataView(part.buffer, part.byteOffset, count);
      };
      return {
        bytes,
        u16: () => view(2).getUint16(0, true),
        i16: () => view(2).getInt16(0, true),
        u32: () => view(4).getUint32(0, true),
        u64: () => view(8).getBigUint64(0, true),
      };
    },
  };
}

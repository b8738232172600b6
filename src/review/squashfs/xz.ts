// Unpacks an xz stream, the default compression of `snap pack`: header, blocks with their check, index, footer. Written
// from "The .xz File Format" 1.1. Like the kernel that mounts the image it supports the checks CRC32 and none, and the
// filter LZMA2; filters for machine code are not supported.
import { crc32 } from 'node:zlib';
import { Unacceptable } from '../unacceptable.ts';
import { corruptImage } from './corrupt-image.ts';
import { unpackLzma2 } from './lzma2.ts';

const magic = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00];
const streamHeaderSize = 12;
const footerSize = 12;
const lzma2 = 0x21;
const checkSizes = new Map([
  [0, 0], // none
  [1, 4], // CRC32
]);

/** `window` is the longest dictionary that the image's packer may have used. */
export function unpackXz(packed: Uint8Array, limit: number, window: number): Uint8Array {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  const u32 = (at: number) => {
    if (at + 4 > packed.length) throw broken();
    return view.getUint32(at, true);
  };
  const checked = (from: number, to: number) => {
    if (to + 4 > packed.length || crc32(packed.subarray(from, to)) !== u32(to)) throw broken();
  };

  if (magic.some((byte, at) => packed[at] !== byte)) throw broken();
  checked(6, 8);
  const check = packed[7] ?? 0;
  const checkSize = packed[6] === 0 ? checkSizes.get(check) : undefined;
  if (checkSize === undefined) {
    throw new Unacceptable(
      `The image's xz blocks carry a check of the kind ${String(check)}, which devices do not read: pack it with 'snap pack' or mksquashfs, which use CRC32.`,
    );
  }

  const out = new Uint8Array(limit);
  let written = 0;
  const records: { unpadded: number; unpacked: number }[] = [];
  let at = streamHeaderSize;
  for (; packed[at] !== 0; at = padded(packed, at)) {
    const start = at;
    const headerSize = ((packed[at] ?? 0) + 1) * 4;
    checked(start, start + headerSize - 4);
    const header = readBlockHeader(packed.subarray(start, start + headerSize - 4), window);
    const result = unpackLzma2(packed, start + headerSize, out, written, header.dictionarySize);
    if (result === undefined) throw broken();
    const compressed = result.read - start - headerSize;
    const uncompressed = result.written - written;
    if ((header.compressed ?? compressed) !== compressed) throw broken();
    if ((header.uncompressed ?? uncompressed) !== uncompressed) throw broken();
    at = padded(packed, result.read);
    if (check === 1 && crc32(out.subarray(written, result.written)) !== u32(at)) throw broken();
    at += checkSize;
    written = result.written;
    records.push({ unpadded: headerSize + compressed + checkSize, unpacked: uncompressed });
  }

  const index = at;
  const number = numbers(packed, at + 1);
  if (number.next() !== records.length) throw broken();
  for (const { unpadded, unpacked } of records) {
    if (number.next() !== unpadded || number.next() !== unpacked) throw broken();
  }
  at = padded(packed, number.position(), index);
  checked(index, at);
  const footer = at + 4;
  if (packed.length !== footer + footerSize) throw broken();
  if (crc32(packed.subarray(footer + 4, footer + 10)) !== u32(footer)) throw broken();
  if ((u32(footer + 4) + 1) * 4 !== footer - index) throw broken();
  if (packed[footer + 8] !== 0 || packed[footer + 9] !== check) throw broken();
  if (packed[footer + 10] !== 0x59 || packed[footer + 11] !== 0x5a) throw broken();
  return out.subarray(0, written);
}

interface BlockHeader {
  compressed: number | undefined;
  uncompressed: number | undefined;
  dictionarySize: number;
}

/** Reads a block's header without its CRC32, which is already verified. */
function readBlockHeader(header: Uint8Array, window: number): BlockHeader {
  const flags = header[1] ?? 0;
  if ((flags & 0x3c) !== 0) throw broken();
  const number = numbers(header, 2);
  const compressed = (flags & 0x40) === 0 ? undefined : number.next();
  const uncompressed = (flags & 0x80) === 0 ? undefined : number.next();
  const filter = number.next();
  if ((flags & 3) !== 0 || filter !== lzma2) {
    throw new Unacceptable(
      "The image is compressed with an xz filter for machine code, which is not read here: pack it with 'snap pack', or with mksquashfs without -Xbcj.",
    );
  }
  if (number.next() !== 1) throw broken();
  const property = header[number.position()] ?? 0xff;
  if (header.subarray(number.position() + 1).some((byte) => byte !== 0)) throw broken();
  // Sizes are 4 KiB, 6 KiB, 8 KiB, 12 KiB, …; the kernel accepts none above the image's block size.
  const dictionarySize = property > 39 ? Infinity : (2 | (property & 1)) * 2 ** ((property >> 1) + 11);
  if (dictionarySize > window) throw corruptImage('an xz block asks for a dictionary longer than the image has blocks');
  return { compressed, uncompressed, dictionarySize };
}

/** Integers in the encoding of the format: seven bits per byte, lowest first, in the shortest form. */
function numbers(bytes: Uint8Array, start: number) {
  let at = start;
  return {
    position: () => at,
    next(): number {
      let value = 0;
      // Seven bytes hold every length in an image; the format allows nine.
      for (let index = 0; index < 7; index++) {
        const byte = bytes[at++];
        if (byte === undefined || (byte === 0 && index > 0)) throw broken();
        value += (byte & 0x7f) * 2 ** (7 * index);
        if (byte < 0x80) return value;
      }
      throw broken();
    },
  };
}

/** The next position at a multiple of four from `start`; skipped bytes must be zero. */
function padded(packed: Uint8Array, at: number, start = 0): number {
  const end = at + ((4 - ((at - start) % 4)) % 4);
  for (let index = at; index < end; index++) if (packed[index] !== 0) throw broken();
  return end;
}

const broken = () => corruptImage('an xz block cannot be unpacked');

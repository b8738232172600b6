// Unpacks LZ4 blocks, as lz4's doc/lz4_Block_format.md describes them: literals, then a match in the output so far.
import { corruptImage } from './corrupt-image.ts';

/** A match is at least this long. */
const minMatch = 4;
const broken = () => corruptImage('an lz4 block cannot be unpacked');

/** Unpacks one block; throws if it is corrupt or its output exceeds `limit` bytes. */
export function unpackLz4(packed: Uint8Array, limit: number): Uint8Array {
  const unpacked = new Uint8Array(limit);
  let [from, to] = [0, 0];
  /** Reads a length that begins with `first` in the token; 15 continues in the following bytes. */
  const length = (first: number): number => {
    let total = first;
    for (let byte = first === 15 ? 255 : 0; byte === 255;) {
      byte = packed[from++] ?? -1;
      if (byte < 0 || total > limit) throw broken();
      total += byte;
    }
    return total;
  };
  const room = (count: number): void => {
    if (count > limit - to) throw corruptImage(`an lz4 block is longer than ${String(limit)} bytes`);
  };
  while (from < packed.length) {
    const token = packed[from++]!;
    const literals = length(token >> 4);
    room(literals);
    if (literals > packed.length - from) throw broken();
    unpacked.set(packed.subarray(from, from + literals), to);
    from += literals;
    to += literals;
    // The last sequence has only literals.
    if (from === packed.length) break;
    if (packed.length - from < 2) throw broken();
    const distance = packed[from]! | (packed[from + 1]! << 8);
    from += 2;
    if (distance === 0 || distance > to) throw broken();
    const count = length(token & 15) + minMatch;
    room(count);
    if (distance >= count) unpacked.copyWithin(to, to - distance, to - distance + count);
    else for (let at = 0; at < count; at++) unpacked[to + at] = unpacked[to + at - distance]!;
    to += count;
  }
  return unpacked.subarray(0, to);
}

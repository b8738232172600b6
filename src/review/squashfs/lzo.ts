// Unpacks LZO1X, the other compression of `snap pack`. Written from the description of the stream in the kernel's
// Documentation/staging/lzo.rst (version 0 of it, which is what mksquashfs writes).
//
// A stream is a row of instructions. Each copies a match, bytes that came out before, and then up to three literals,
// bytes that stand in the stream; or it copies a longer row of literals. `literals` remembers how many the instruction
// before has copied, 4 standing for a longer row: it decides what an instruction below 16 means.
import { damaged } from './damaged.ts';

export function unpackLzo(packed: Uint8Array, limit: number): Uint8Array {
  const out = new Uint8Array(limit);
  let read = 0;
  let written = 0;

  function next(): number {
    const byte = packed[read++];
    if (byte === undefined) throw broken();
    return byte;
  }
  /** A length of which the instruction itself holds too little: every zero byte that follows adds 255 to it. */
  function longer(base: number): number {
    for (let length = base; ; length += 255) {
      const byte = next();
      if (byte !== 0) return length + byte;
      if (length > limit) throw broken();
    }
  }
  function copyLiterals(count: number): void {
    if (read + count > packed.length || written + count > limit) throw broken();
    out.set(packed.subarray(read, read + count), written);
    read += count;
    written += count;
  }
  function copyMatch(distance: number, length: number): void {
    if (distance > written || written + length > limit) throw broken();
    // One byte after the other: a match may reach into what it is just writing.
    for (const end = written + length; written < end; written++) out[written] = out[written - distance] ?? 0;
  }

  let literals = 0;
  const first = packed[0] ?? 0;
  if (first > 17) {
    read = 1;
    copyLiterals(first - 17);
    literals = Math.min(first - 17, 4);
  }
  for (;;) {
    const code = next();
    let trailing = code & 3;
    if (code >= 64) {
      const length = code >= 128 ? 5 + ((code >> 5) & 3) : 3 + ((code >> 5) & 1);
      copyMatch((next() << 3) + ((code >> 2) & 7) + 1, length);
    } else if (code >= 32) {
      const length = 2 + (code & 31 || longer(31));
      const low = next();
      copyMatch(((next() << 6) | (low >> 2)) + 1, length);
      trailing = low & 3;
    } else if (code >= 16) {
      const length = 2 + (code & 7 || longer(7));
      const low = next();
      const distance = ((code & 8) << 11) + ((next() << 6) | (low >> 2));
      if (distance === 0) {
        if (length !== 3 || read !== packed.length) throw broken(); // the end of a stream is 17 0 0, and nothing after
        return out.subarray(0, written);
      }
      copyMatch(16384 + distance, length);
      trailing = low & 3;
    } else if (literals === 0) {
      copyLiterals(3 + (code || longer(15)));
      literals = 4;
      continue;
    } else {
      const near = (next() << 2) + (code >> 2) + 1;
      if (literals === 4) copyMatch(near + 2048, 3);
      else copyMatch(near, 2);
    }
    copyLiterals(trailing);
    literals = trailing;
  }
}

const broken = () => damaged('an lzo block cannot be unpacked');

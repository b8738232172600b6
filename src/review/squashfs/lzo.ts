// Unpacks LZO1X, the other compression of `snap pack`. Written from the description of the stream in the kernel's
// Documentation/staging/lzo.rst (version 0, which mksquashfs writes).
//
// A stream is a sequence of instructions. Each copies a match, which is earlier output, and then up to three literals,
// which are bytes of the stream; or it copies a longer run of literals. `literals` has the number copied by the
// previous instruction, with 4 for a longer run: it decides the meaning of an instruction below 16.
import { corruptImage } from './corrupt-image.ts';

export function unpackLzo(packed: Uint8Array, limit: number): Uint8Array {
  const block = new LzoStream(packed, limit);
  let literals = block.begin();
  for (;;) {
    const code = block.next();
    let trailing = code & 3;
    if (code >= 64) {
      const length = code >= 128 ? 5 + ((code >> 5) & 3) : 3 + ((code >> 5) & 1);
      block.copyMatch((block.next() << 3) + ((code >> 2) & 7) + 1, length);
    } else if (code >= 32) {
      const length = 2 + (code & 31 || block.longer(31));
      const low = block.next();
      block.copyMatch(((block.next() << 6) | (low >> 2)) + 1, length);
      trailing = low & 3;
    } else if (code >= 16) {
      const length = 2 + (code & 7 || block.longer(7));
      const low = block.next();
      const distance = ((code & 8) << 11) + ((block.next() << 6) | (low >> 2));
      // The end of a stream is 17 0 0, with no bytes after it.
      if (distance === 0) return block.end(length === 3);
      block.copyMatch(16384 + distance, length);
      trailing = low & 3;
    } else if (literals === 0) {
      block.copyLiterals(3 + (code || block.longer(15)));
      literals = 4;
      continue;
    } else {
      const near = (block.next() << 2) + (code >> 2) + 1;
      if (literals === 4) block.copyMatch(near + 2048, 3);
      else block.copyMatch(near, 2);
    }
    block.copyLiterals(trailing);
    literals = trailing;
  }
}

/** The input and the output of instructions. */
class LzoStream {
  readonly #packed: Uint8Array;
  readonly #limit: number;
  readonly #out: Uint8Array;
  #read = 0;
  #written = 0;

  constructor(packed: Uint8Array, limit: number) {
    this.#packed = packed;
    this.#limit = limit;
    this.#out = new Uint8Array(limit);
  }

  /**
   * Copies the literals at the beginning of a stream, which no instruction announces; returns the count for the first
   * instruction.
   */
  begin(): number {
    const count = (this.#packed[0] ?? 0) - 17;
    if (count <= 0) return 0;
    this.#read = 1;
    this.copyLiterals(count);
    return Math.min(count, 4);
  }

  next(): number {
    const byte = this.#packed[this.#read++];
    if (byte === undefined) throw broken();
    return byte;
  }

  /** Reads the rest of a length that does not fit its instruction: every zero byte that follows adds 255. */
  longer(base: number): number {
    for (let length = base; ; length += 255) {
      const byte = this.next();
      if (byte !== 0) return length + byte;
      if (length > this.#limit) throw broken();
    }
  }

  copyLiterals(count: number): void {
    if (this.#read + count > this.#packed.length || this.#written + count > this.#limit) throw broken();
    this.#out.set(this.#packed.subarray(this.#read, this.#read + count), this.#written);
    this.#read += count;
    this.#written += count;
  }

  copyMatch(distance: number, length: number): void {
    if (distance > this.#written || this.#written + length > this.#limit) throw broken();
    const out = this.#out;
    // Copy single bytes: a match may overlap its own output.
    let at = this.#written;
    for (const end = at + length; at < end; at++) out[at] = out[at - distance] ?? 0;
    this.#written = at;
  }

  /** Returns the output. Throws if the end mark is wrong (`isWell` is false), or if packed bytes are left. */
  end(isWell: boolean): Uint8Array {
    if (!isWell || this.#read !== this.#packed.length) throw broken();
    return this.#out.subarray(0, this.#written);
  }
}

const broken = () => corruptImage('an lzo block cannot be unpacked');

// Unpacks LZO1X, the other compression of `snap pack`. Written from the description of the stream in the kernel's
// Documentation/staging/lzo.rst (version 0 of it, which is what mksquashfs writes).
//
// A stream is a row of instructions. Each copies a match, bytes that came out before, and then up to three literals,
// bytes that stand in the stream; or it copies a longer row of literals. `literals` remembers how many the instruction
// before has copied, 4 standing for a longer row: it decides what an instruction below 16 means.
import { damaged } from './damaged.ts';

export function unpackLzo(packed: Uint8Array, limit: number): Uint8Array {
  const block = new Block(packed, limit);
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
      // The end of a stream is 17 0 0, and nothing after.
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

/** What an instruction reads of the stream, and what it writes. */
class Block {
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

  /** A stream may begin with a row of literals that no instruction announces; what the first one is to remember of it. */
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

  /** A length of which the instruction itself holds too little: every zero byte that follows adds 255 to it. */
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
    // One byte after the other: a match may reach into what it is just writing.
    let at = this.#written;
    for (const end = at + length; at < end; at++) out[at] = out[at - distance] ?? 0;
    this.#written = at;
  }

  /** All that was written, if the stream ends here and well. */
  end(isWell: boolean): Uint8Array {
    if (!isWell || this.#read !== this.#packed.length) throw broken();
    return this.#out.subarray(0, this.#written);
  }
}

const broken = () => damaged('an lzo block cannot be unpacked');

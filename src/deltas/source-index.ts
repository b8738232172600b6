// Finds bytes of the target in the source, with a rolling hash over blocks of the source. The table has a bounded size: a larger source
// gets larger blocks.
import type { RandomAccessFile } from './random-access-file.ts';

/** Maximum number of blocks. A table entry holds a block number in 22 bits and part of its hash in the other 10. */
const numberBits = 22;
const maxBlocks = 2 ** numberBits - 1;
const minBlockSize = 16;
const emptyEntry = 0xff_ff_ff_ff;
const factor = 0x08_01_01_0d;

/** A sequence of bytes that the source and the target share. */
export interface DeltaMatch {
  /** Offset in the target; `from` is the offset in the source. */
  at: number;
  from: number;
  length: number;
}

export class SourceIndex {
  /** Bytes per block. Any match of at least twice this length is found, at any offset. */
  readonly block: number;
  readonly #source: RandomAccessFile;
  readonly #table: Uint32Array;
  readonly #shift: number;
  /** Factor of the first byte of a block in its hash, used to remove that byte. */
  readonly #leaving: number;

  constructor(source: RandomAccessFile) {
    this.#source = source;
    let block = minBlockSize;
    while (source.size / block > maxBlocks) block *= 2;
    this.block = block;
    const bits = Math.max(8, Math.ceil(Math.log2(source.size / block + 1)) + 1);
    this.#shift = 32 - bits;
    this.#table = new Uint32Array(2 ** bits).fill(emptyEntry);
    let leaving = 1;
    for (let at = 0; at < block; at++) leaving = Math.imul(leaving, factor);
    this.#leaving = leaving;
    this.#fill();
  }

  /** Returns the hash of the block that starts at `at`. */
  hash(bytes: Uint8Array, at: number): number {
    let hash = 0;
    for (let end = at + this.block; at < end; at++) hash = (Math.imul(hash, factor) + bytes[at]! + 1) | 0;
    return hash;
  }

  /** Returns the hash of the block that starts one byte later. */
  roll(hash: number, leaves: number, comes: number): number {
    return (Math.imul(hash, factor) + comes + 1 - Math.imul(leaves + 1, this.#leaving)) | 0;
  }

  /** Returns the offset in the source of a block with this hash, if known. */
  lookUp(hash: number): number | undefined {
    const mixed = Math.imul(hash ^ (hash >>> 15), 0x9e_37_79_b1);
    const entry = this.#table[mixed >>> this.#shift]!;
    if (entry === emptyEntry || entry >>> numberBits !== (mixed & 1023)) return undefined;
    return (entry & maxBlocks) * this.block;
  }

  /** Only the first of several equal blocks is stored. A source of zeros uses one entry. */
  #fill(): void {
    const blocks = Math.floor(this.#source.size / this.block);
    for (let number = 0; number < blocks;) {
      const piece = this.#source.read(number * this.block, this.block * Math.ceil(65_536 / this.block));
      for (let at = 0; at + this.block <= piece.length; at += this.block, number++) {
        const hash = this.hash(piece, at);
        const mixed = Math.imul(hash ^ (hash >>> 15), 0x9e_37_79_b1);
        const slot = mixed >>> this.#shift;
        if (this.#table[slot] === emptyEntry) this.#table[slot] = ((mixed & 1023) << numberBits) | number;
      }
    }
  }
}

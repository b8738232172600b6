// Where bytes of the target stand in the source: the blocks of the source under a hash that is cheap to roll on by one byte.
// The table does not grow with the source: of a larger source the blocks are larger.
import type { Source } from './source.ts';

/** So many blocks are known at most: their numbers take 22 bits of an entry, and a part of their hash the other 10. */
const numberBits = 22;
const mostBlocks = 2 ** numberBits - 1;
const leastBlock = 16;
const nothing = 0xff_ff_ff_ff;
const factor = 0x08_01_01_0d;

/** Bytes that are the same in the source and in the target. */
export interface Match {
  /** Where they begin in the target, and in the source. */
  at: number;
  from: number;
  length: number;
}

export class SourceIndex {
  /** Bytes of a block. What is the same over twice as many is found, wherever it stands. */
  readonly block: number;
  readonly #source: Source;
  readonly #table: Uint32Array;
  readonly #shift: number;
  /** What the first byte of a block counts in its hash when it leaves. */
  readonly #leaving: number;

  constructor(source: Source) {
    this.#source = source;
    let block = leastBlock;
    while (source.size / block > mostBlocks) block *= 2;
    this.block = block;
    const bits = Math.max(8, Math.ceil(Math.log2(source.size / block + 1)) + 1);
    this.#shift = 32 - bits;
    this.#table = new Uint32Array(2 ** bits).fill(nothing);
    let leaving = 1;
    for (let at = 0; at < block; at++) leaving = Math.imul(leaving, factor);
    this.#leaving = leaving;
    this.#fill();
  }

  /** The hash of the block that begins there. */
  hash(bytes: Uint8Array, at: number): number {
    let hash = 0;
    for (let end = at + this.block; at < end; at++) hash = (Math.imul(hash, factor) + bytes[at]! + 1) | 0;
    return hash;
  }

  /** The hash of the block that begins a byte later. */
  roll(hash: number, leaves: number, comes: number): number {
    return (Math.imul(hash, factor) + comes + 1 - Math.imul(leaves + 1, this.#leaving)) | 0;
  }

  /** Where in the source a block of that hash begins, if any does. */
  lookUp(hash: number): number | undefined {
    const mixed = Math.imul(hash ^ (hash >>> 15), 0x9e_37_79_b1);
    const entry = this.#table[mixed >>> this.#shift]!;
    if (entry === nothing || entry >>> numberBits !== (mixed & 1023)) return undefined;
    return (entry & mostBlocks) * this.block;
  }

  /** Of blocks that are the same the first one is known; a source of nothing but zeros fills one entry. */
  #fill(): void {
    const blocks = Math.floor(this.#source.size / this.block);
    for (let number = 0; number < blocks;) {
      const piece = this.#source.read(number * this.block, this.block * Math.ceil(65_536 / this.block));
      for (let at = 0; at + this.block <= piece.length; at += this.block, number++) {
        const hash = this.hash(piece, at);
        const mixed = Math.imul(hash ^ (hash >>> 15), 0x9e_37_79_b1);
        const slot = mixed >>> this.#shift;
        if (this.#table[slot] === nothing) this.#table[slot] = ((mixed & 1023) << numberBits) | number;
      }
    }
  }
}

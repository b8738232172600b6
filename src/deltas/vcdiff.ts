// Shared parts of the VCDIFF encoder and decoder (RFC 3284): numbers, instructions and the address cache. Supports the subset that `xdelta3
// -S none` writes: the default code table, no secondary compression.

/** "VCD" with the highest bits set, version 0, and no header options. */
export const header = Uint8Array.of(0xd6, 0xc3, 0xc4, 0, 0);

/** Window flags: the window copies from the source; the window carries an Adler-32 checksum (an xdelta3 extension). */
export const fromSource = 1;
export const withAdler32 = 4;

/** Maximum bytes of the target per window. */
export const maxWindowBytes = 8 * 1024 * 1024;

export type DeltaInstructionKind = 'none' | 'add' | 'run' | 'copy';

/** One half of an instruction. If its size is 0, the size follows as a number. */
export interface Half {
  kind: DeltaInstructionKind;
  size: number;
  mode: number;
}

/** First codes of the ranges in the default code table. Each range starts with the code without a size; the codes of small sizes follow. */
export const runNumber = 0;
export const addNumber = 1;
export const maxAddSize = 17;
export const minCopySize = 4;
export const maxCopySize = 18;
const modes = 9;
export const copyNumber = (mode: number): number => 19 + 16 * mode;

const none: Half = { kind: 'none', size: 0, mode: 0 };
const add = (size: number): Half => ({ kind: 'add', size, mode: 0 });
const copy = (size: number, mode: number): Half => ({ kind: 'copy', size, mode });

/** The default code table (RFC 3284 section 5.6): the one or two instructions of each of the 256 codes. */
export const instructions: readonly (readonly [Half, Half])[] = standardTable();

function standardTable(): (readonly [Half, Half])[] {
  const all: (readonly [Half, Half])[] = [[{ kind: 'run', size: 0, mode: 0 }, none]];
  for (let size = 0; size <= maxAddSize; size++) all.push([add(size), none]);
  for (let mode = 0; mode < modes; mode++) {
    all.push([copy(0, mode), none]);
    for (let size = minCopySize; size <= maxCopySize; size++) all.push([copy(size, mode), none]);
  }
  for (let mode = 0; mode < modes; mode++) {
    const maxSize = mode < 6 ? 6 : 4;
    for (let added = 1; added <= 4; added++) {
      for (let size = 4; size <= maxSize; size++) all.push([add(added), copy(size, mode)]);
    }
  }
  for (let mode = 0; mode < modes; mode++) all.push([copy(4, mode), add(1)]);
  return all;
}

const nearSize = 4;
const sameSize = 3;

/** First modes that use a cache slot. Mode 0 is the address itself, mode 1 its distance from the current position. */
const firstNear = 2;
const firstSame = firstNear + nearSize;

/** Cache of recently copied addresses in a window. Encoder and decoder keep identical caches. */
export class AddressCache {
  readonly #near = new Float64Array(nearSize);
  readonly #same = new Float64Array(sameSize * 256);
  #next = 0;

  /** Returns the shortest encoding of an address: a mode with a number, or one byte if `isByte`. */
  shortest(address: number, currentAddress: number): { mode: number; value: number; isByte: boolean } {
    let best = { mode: 0, value: address, isByte: false };
    const consider = (mode: number, value: number): void => {
      if (value >= 0 && value < best.value) best = { mode, value, isByte: false };
    };
    consider(1, currentAddress - address);
    for (let slot = 0; slot < nearSize; slot++) consider(firstNear + slot, address - this.#near[slot]!);
    const slot = address % this.#same.length;
    if (best.value >= 128 && this.#same[slot] === address) {
      best = { mode: firstSame + Math.floor(slot / 256), value: slot % 256, isByte: true };
    }
    this.#remember(address);
    return best;
  }

  /** Decodes an address. `number` and `byte` read the next value of the address section. */
  read(mode: number, currentAddress: number, { number, byte }: { number: () => number; byte: () => number }): number {
    const address = this.#address(mode, currentAddress, number, byte);
    if (address >= 0 && address < currentAddress) this.#remember(address);
    return address;
  }

  #address(mode: number, currentAddress: number, number: () => number, byte: () => number): number {
    if (mode >= firstSame) return this.#same[(mode - firstSame) * 256 + byte()]!;
    if (mode >= firstNear) return this.#near[mode - firstNear]! + number();
    return mode === 1 ? currentAddress - number() : number();
  }

  #remember(address: number): void {
    this.#near[this.#next] = address;
    this.#next = (this.#next + 1) % nearSize;
    this.#same[address % this.#same.length] = address;
  }
}

/** A byte buffer that also writes numbers: seven bits per byte, most significant first, with the high bit set on all but the last byte. */
export class DeltaBuffer {
  #bytes = new Uint8Array(4096);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  byte(value: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = value;
  }

  all(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  number(value: number): void {
    const length = lengthOfNumber(value);
    this.#room(length);
    // Offsets in large files exceed the 32 bits that shift operators support.
    let rest = value;
    for (let at = length - 1; at >= 0; at--) {
      this.#bytes[this.#length + at] = (rest % 128) | (at === length - 1 ? 0 : 128);
      rest = Math.floor(rest / 128);
    }
    this.#length += length;
  }

  clear(): void {
    this.#length = 0;
  }

  #room(length: number): void {
    if (this.#length + length <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + length));
    larger.set(this.bytes);
    this.#bytes = larger;
  }
}

export function lengthOfNumber(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length++;
  return length;
}

// What both sides of VCDIFF (RFC 3284) have in common: its numbers, its instructions, and the cache of addresses. Of the format
// what `xdelta3 -S none` writes is spoken: the standard table of instructions, and no second compression.

/** "VCD" with the highest bits set, version 0, and nothing else in the header. */
export const header = Uint8Array.of(0xd6, 0xc3, 0xc4, 0, 0);

/** A window that copies from the source, and one with an Adler-32 of its bytes, which is xdelta3's own. */
export const fromSource = 1;
export const withAdler32 = 4;

/** Bytes of the target that one window makes at most. */
export const mostInWindow = 8 * 1024 * 1024;

export type Kind = 'none' | 'add' | 'run' | 'copy';

/** One half of an instruction; a size of 0 follows it as a number. */
export interface Half {
  kind: Kind;
  size: number;
  mode: number;
}

/** A range of the standard table's numbers begins with the one without a size, and has the small sizes behind it. */
export const runNumber = 0;
export const addNumber = 1;
export const mostInAdd = 17;
export const leastInCopy = 4;
export const mostInCopy = 18;
const modes = 9;
export const copyNumber = (mode: number): number => 19 + 16 * mode;

const none: Half = { kind: 'none', size: 0, mode: 0 };
const add = (size: number): Half => ({ kind: 'add', size, mode: 0 });
const copy = (size: number, mode: number): Half => ({ kind: 'copy', size, mode });

/** The standard table (RFC 3284, 5.6): what each of the 256 numbers does, one thing after the other. */
export const instructions: readonly (readonly [Half, Half])[] = standardTable();

function standardTable(): (readonly [Half, Half])[] {
  const all: (readonly [Half, Half])[] = [[{ kind: 'run', size: 0, mode: 0 }, none]];
  for (let size = 0; size <= mostInAdd; size++) all.push([add(size), none]);
  for (let mode = 0; mode < modes; mode++) {
    all.push([copy(0, mode), none]);
    for (let size = leastInCopy; size <= mostInCopy; size++) all.push([copy(size, mode), none]);
  }
  for (let mode = 0; mode < modes; mode++) {
    const most = mode < 6 ? 6 : 4;
    for (let added = 1; added <= 4; added++) {
      for (let size = 4; size <= most; size++) all.push([add(added), copy(size, mode)]);
    }
  }
  for (let mode = 0; mode < modes; mode++) all.push([copy(4, mode), add(1)]);
  return all;
}

const nearSize = 4;
const sameSize = 3;

/** Where the modes that name a slot of the cache begin: 0 is an address itself, 1 its distance from here. */
const firstNear = 2;
const firstSame = firstNear + nearSize;

/** The addresses that were copied from last in a window; both sides keep the same. */
export class AddressCache {
  readonly #near = new Float64Array(nearSize);
  readonly #same = new Float64Array(sameSize * 256);
  #next = 0;

  /** The shortest way to say an address: in a mode with a number, or for `isByte` with one byte. */
  shortest(address: number, here: number): { mode: number; said: number; isByte: boolean } {
    let best = { mode: 0, said: address, isByte: false };
    const consider = (mode: number, said: number): void => {
      if (said >= 0 && said < best.said) best = { mode, said, isByte: false };
    };
    consider(1, here - address);
    for (let slot = 0; slot < nearSize; slot++) consider(firstNear + slot, address - this.#near[slot]!);
    const slot = address % this.#same.length;
    if (best.said >= 128 && this.#same[slot] === address) {
      best = { mode: firstSame + Math.floor(slot / 256), said: slot % 256, isByte: true };
    }
    this.#remember(address);
    return best;
  }

  /** The address that is said in a mode; `number` and `byte` read what comes next of the addresses. */
  read(mode: number, here: number, { number, byte }: { number: () => number; byte: () => number }): number {
    const address = this.#address(mode, here, number, byte);
    if (address >= 0 && address < here) this.#remember(address);
    return address;
  }

  #address(mode: number, here: number, number: () => number, byte: () => number): number {
    if (mode >= firstSame) return this.#same[(mode - firstSame) * 256 + byte()]!;
    if (mode >= firstNear) return this.#near[mode - firstNear]! + number();
    return mode === 1 ? here - number() : number();
  }

  #remember(address: number): void {
    this.#near[this.#next] = address;
    this.#next = (this.#next + 1) % nearSize;
    this.#same[address % this.#same.length] = address;
  }
}

/** Bytes that are gathered, and numbers among them: seven bits a byte, the highest first, each but the last one marked. */
export class Gathered {
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
    // A place in a large file has more than the 32 bits of which shifts know.
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

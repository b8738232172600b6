// Applies a VCDIFF delta to a source, window by window. Rejects an invalid delta, and any access outside the source, the window or the size
// limit, before it produces the window.
import type { RandomAccessFile } from './random-access-file.ts';
import { AddressCache, fromSource, header, instructions, maxWindowBytes, withAdler32, type Half } from './vcdiff.ts';

/** Thrown if a file is not a valid delta for the source. */
export class InvalidDelta extends Error {}

/** A window contains each target byte at most once, and at most one instruction and one address per byte. */
const maxSectionBytes = 3 * maxWindowBytes;

/**
 * Yields the windows of the target, at most `maxBytes` bytes in total. Each window is valid until the next is requested.
 *
 * @throws InvalidDelta
 */
export function* decode(
  source: RandomAccessFile,
  delta: RandomAccessFile,
  maxBytes: number,
): Generator<Uint8Array, void, undefined> {
  const reading = new DeltaReader(delta);
  if (header.some((byte) => reading.byte() !== byte)) throw new InvalidDelta('it has no header of a delta');
  for (let made = 0; !reading.isAtEnd;) {
    const window = windowOf(reading, source, maxBytes - made);
    const bytes = new DeltaTargetBuilder(window, source).bytes();
    made += bytes.length;
    yield bytes;
  }
}

interface DeltaWindow {
  /** Start of the part of the source that this window copies from. */
  begin: number;
  segment: number;
  /** Bytes of the target in this window. */
  size: number;
  data: DeltaSection;
  instructions: DeltaSection;
  addresses: DeltaSection;
}

function windowOf(reading: DeltaReader, source: RandomAccessFile, maxBytes: number): DeltaWindow {
  const indicator = reading.byte();
  if ((indicator & ~(fromSource | withAdler32)) !== 0) throw new InvalidDelta('a window has an unsupported indicator');
  const segment = indicator & fromSource ? reading.number() : 0;
  const begin = indicator & fromSource ? reading.number() : 0;
  if (begin + segment > source.size) throw new InvalidDelta('a window copies from beyond the source');
  const length = reading.number();
  const first = reading.at;
  const size = reading.number();
  if (size > Math.min(maxBytes, maxWindowBytes)) throw new InvalidDelta('a window is larger than allowed');
  if (reading.byte() !== 0) throw new InvalidDelta('a window has secondary compression');
  const lengths = [reading.number(), reading.number(), reading.number()] as const;
  const checksum = indicator & withAdler32 ? 4 : 0;
  const inSections = lengths[0] + lengths[1] + lengths[2];
  if (inSections > maxSectionBytes || reading.at - first + checksum + inSections !== length) {
    throw new InvalidDelta('the lengths in a window do not add up');
  }
  reading.skip(checksum);
  const [data, instructions, addresses] = lengths.map((length) => new DeltaSection(reading.bytes(length)));
  return { begin, segment, size, data: data!, instructions: instructions!, addresses: addresses! };
}

class DeltaTargetBuilder {
  readonly #window: DeltaWindow;
  readonly #source: RandomAccessFile;
  readonly #made: Uint8Array;
  readonly #cache = new AddressCache();
  #length = 0;

  constructor(window: DeltaWindow, source: RandomAccessFile) {
    this.#window = window;
    this.#source = source;
    this.#made = new Uint8Array(window.size);
  }

  bytes(): Uint8Array {
    const { instructions: codes, data, addresses } = this.#window;
    while (!codes.isAtEnd) for (const half of instructions[codes.byte()]!) this.#do(half);
    if (this.#length !== this.#made.length || !data.isAtEnd || !addresses.isAtEnd) {
      throw new InvalidDelta('a window has another length than it declares');
    }
    return this.#made;
  }

  #do({ kind, size: fixedSize, mode }: Half): void {
    if (kind === 'none') return;
    const { instructions: codes, data } = this.#window;
    const size = fixedSize === 0 ? codes.number() : fixedSize;
    if (size > this.#made.length - this.#length) throw new InvalidDelta('a window is longer than it declares');
    const position = this.#length;
    if (kind === 'add') this.#made.set(data.bytes(size), position);
    else if (kind === 'run') this.#made.fill(data.byte(), position, position + size);
    else this.#copy(size, mode);
    this.#length = position + size;
  }

  #copy(size: number, mode: number): void {
    const { segment, begin, addresses } = this.#window;
    const currentAddress = segment + this.#length;
    const address = this.#cache.read(mode, currentAddress, {
      number: () => addresses.number(),
      byte: () => addresses.byte(),
    });
    if (address < 0 || address >= currentAddress)
      throw new InvalidDelta('a window copies from an address outside the available data');
    const ofSource = Math.min(size, Math.max(0, segment - address));
    const into = this.#made.subarray(this.#length, this.#length + size);
    if (ofSource > 0) this.#source.readInto(into.subarray(0, ofSource), begin + address);
    // A copy may overlap its own output, so copy byte by byte, as the format requires.
    let from = Math.max(0, address - segment);
    for (let at = ofSource; at < size; at++) into[at] = this.#made[from++]!;
  }
}

/** One of the three sections of a window. */
class DeltaSection {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  byte(): number {
    return this.bytes(1)[0]!;
  }

  number(): number {
    return numberOf(() => this.byte());
  }

  bytes(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) throw new InvalidDelta('a section of a window ends too early');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

/** Reads a delta from start to end. */
class DeltaReader {
  readonly #delta: RandomAccessFile;
  #ahead: Uint8Array = new Uint8Array(0);
  #aheadFrom = 0;
  at = 0;

  constructor(delta: RandomAccessFile) {
    this.#delta = delta;
  }

  get isAtEnd(): boolean {
    return this.at === this.#delta.size;
  }

  byte(): number {
    this.#requireBytes(1);
    if (this.at - this.#aheadFrom >= this.#ahead.length) {
      this.#ahead = this.#delta.read(this.at, 64);
      this.#aheadFrom = this.at;
    }
    return this.#ahead[this.at++ - this.#aheadFrom]!;
  }

  number(): number {
    return numberOf(() => this.byte());
  }

  bytes(length: number): Uint8Array {
    this.#requireBytes(length);
    const bytes = new Uint8Array(length);
    this.#delta.readInto(bytes, this.at);
    this.at += length;
    return bytes;
  }

  skip(length: number): void {
    this.#requireBytes(length);
    this.at += length;
  }

  #requireBytes(length: number): void {
    if (length > this.#delta.size - this.at) throw new InvalidDelta('it ends too early');
  }
}

function numberOf(byte: () => number): number {
  for (let value = 0, length = 1; ; length++) {
    const next = byte();
    value = value * 128 + (next & 127);
    if (next < 128) return value;
    // A number has at most seven bytes (49 bits), because JavaScript numbers are exact up to 53 bits.
    if (length === 7) throw new InvalidDelta('a number is too large');
  }
}

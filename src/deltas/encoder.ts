// Makes a delta: copies the parts of the target that are in the source and adds the rest. Works window by window, so that memory does not
// grow with either file.
import { SourceIndex, type DeltaMatch } from './source-index.ts';
import type { RandomAccessFile } from './random-access-file.ts';
import {
  addNumber,
  AddressCache,
  copyNumber,
  fromSource,
  DeltaBuffer,
  header,
  minCopySize,
  lengthOfNumber,
  maxAddSize,
  maxCopySize,
  runNumber,
} from './vcdiff.ts';

/** Bytes of the target per window. Each window copies from its own part of the source, so smaller windows find more moved content. */
const windowSize = 2 * 1024 * 1024;

/** Maximum bytes of the source that a window refers to. xdelta3 keeps this much in memory by default and reads no part twice. */
const maxSourceSpan = 64 * 1024 * 1024;

/** Minimum length of a run of equal bytes; shorter runs are added as literals. */
const minRunLength = 32;

/** Yields the delta in pieces: the header, then each window. A piece is valid until the next is requested. */
export function* encode(source: RandomAccessFile, target: RandomAccessFile): Generator<Uint8Array, void, undefined> {
  const index = new SourceIndex(source);
  const window = new WindowWriter();
  const buffer = Buffer.allocUnsafeSlow(Math.min(windowSize, target.size));
  yield header;
  for (let begin = 0; begin < target.size; begin += windowSize) {
    const bytes = buffer.subarray(0, Math.min(windowSize, target.size - begin));
    target.readInto(bytes, begin);
    yield window.write(bytes, withinReach(matchesIn(bytes, index, source)));
  }
}

/** Returns the parts of a window that are also in the source, in window order, including those beyond `maxSourceSpan`. */
function matchesIn(bytes: Uint8Array, index: SourceIndex, source: RandomAccessFile): DeltaMatch[] {
  const { block } = index;
  const matches: DeltaMatch[] = [];
  let done = 0;
  let hash: number | undefined;
  for (let at = 0; at + block <= bytes.length;) {
    const run = runAt(bytes, at);
    if (run >= minRunLength) {
      at += run;
      hash = undefined;
      continue;
    }
    hash ??= index.hash(bytes, at);
    const candidate = index.lookUp(hash);
    const same = candidate === undefined ? 0 : source.sameAfter(candidate, bytes, at);
    if (candidate !== undefined && same >= block) {
      const before = source.sameBefore(candidate, bytes, at, at - done);
      matches.push({ at: at - before, from: candidate - before, length: before + same });
      done = at += same;
      hash = undefined;
    } else {
      if (at + block < bytes.length) hash = index.roll(hash, bytes[at]!, bytes[at + block]!);
      at++;
    }
  }
  return matches;
}

/** Returns how often the byte at `at` repeats. */
function runAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (bytes[at + 1] !== byte || bytes[at + 2] !== byte) return 1;
  let end = at + 3;
  while (end < bytes.length && bytes[end] === byte) end++;
  return end - at;
}

/** Returns the matches within the part of the source, at most `maxSourceSpan` bytes long, that contains the most matched bytes. */
function withinReach(matches: readonly DeltaMatch[]): readonly DeltaMatch[] {
  const inSource = matches.toSorted((a, b) => a.from - b.from);
  let best = { length: 0, begin: 0 };
  let [length, first] = [0, 0];
  for (const last of inSource) {
    length += last.length;
    while (last.from + last.length - inSource[first]!.from > maxSourceSpan) length -= inSource[first++]!.length;
    if (length > best.length) best = { length, begin: inSource[first]!.from };
  }
  const end = best.begin + maxSourceSpan;
  return matches.filter(({ from, length }) => from >= best.begin && from + length <= end);
}

class WindowWriter {
  readonly #data = new DeltaBuffer();
  readonly #instructions = new DeltaBuffer();
  readonly #addresses = new DeltaBuffer();
  readonly #whole = new DeltaBuffer();
  #cache = new AddressCache();

  write(bytes: Uint8Array, matches: readonly DeltaMatch[]): Uint8Array {
    for (const part of [this.#data, this.#instructions, this.#addresses, this.#whole]) part.clear();
    this.#cache = new AddressCache();
    const begin = matches.reduce((least, { from }) => Math.min(least, from), Infinity);
    const end = matches.reduce((furthest, { from, length }) => Math.max(furthest, from + length), 0);
    const segment = matches.length === 0 ? 0 : end - begin;
    let done = 0;
    for (const { at, from, length } of matches) {
      this.#literal(bytes, done, at);
      this.#copy(from - begin, segment + at, length);
      done = at + length;
    }
    this.#literal(bytes, done, bytes.length);
    return this.#assembled(bytes.length, segment === 0 ? undefined : { begin, segment });
  }

  #assembled(size: number, source: { begin: number; segment: number } | undefined): Uint8Array {
    const whole = this.#whole;
    const parts = [this.#data, this.#instructions, this.#addresses];
    whole.byte(source === undefined ? 0 : fromSource);
    if (source !== undefined) {
      whole.number(source.segment);
      whole.number(source.begin);
    }
    const numbers = [size, ...parts.map(({ length }) => length)];
    const lengths = [...numbers.map(lengthOfNumber), ...parts.map(({ length }) => length)];
    whole.number(lengths.reduce((sum, length) => sum + length, 1));
    whole.number(size);
    whole.byte(0); // no secondary compression
    for (const { length } of parts) whole.number(length);
    for (const { bytes } of parts) whole.all(bytes);
    return whole.bytes;
  }

  /** Writes bytes as literals, and long runs as run instructions. */
  #literal(bytes: Uint8Array, begin: number, end: number): void {
    const part = bytes.subarray(0, end);
    let literalStart = begin;
    for (let at = begin; at < end;) {
      const run = runAt(part, at);
      if (run >= minRunLength) {
        this.#add(part.subarray(literalStart, at));
        this.#instructions.byte(runNumber);
        this.#instructions.number(run);
        this.#data.byte(bytes[at]!);
        literalStart = at + run;
      }
      at += run;
    }
    this.#add(part.subarray(literalStart));
  }

  #add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#instruct(addNumber, bytes.length <= maxAddSize ? bytes.length : 0, bytes.length);
    this.#data.all(bytes);
  }

  #copy(address: number, currentAddress: number, length: number): void {
    const { mode, value, isByte } = this.#cache.shortest(address, currentAddress);
    const isSmall = length >= minCopySize && length <= maxCopySize;
    this.#instruct(copyNumber(mode), isSmall ? length - minCopySize + 1 : 0, length);
    if (isByte) this.#addresses.byte(value);
    else this.#addresses.number(value);
  }

  /** `small` is the offset of the size in its range of the code table; 0 if the size follows as a number. */
  #instruct(first: number, small: number, size: number): void {
    this.#instructions.byte(first + small);
    if (small === 0) this.#instructions.number(size);
  }
}

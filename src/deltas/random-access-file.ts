// Random-access reader for a file.
import { fstatSync, readSync } from 'node:fs';

/** Bytes compared per step. */
const pieceSize = 65_536;

export class RandomAccessFile {
  readonly size: number;
  readonly #file: number;
  readonly #piece = Buffer.allocUnsafeSlow(2 * pieceSize);

  /** @param file - A file descriptor; the caller closes it. */
  constructor(file: number) {
    this.#file = file;
    this.size = fstatSync(file).size;
  }

  /** Reads up to 128 KiB, less at the end of the file. The buffer is valid until the next call. */
  read(from: number, length: number): Buffer {
    const into = this.#piece.subarray(0, Math.min(length, this.size - from, this.#piece.length));
    this.readInto(into, from);
    return into;
  }

  readInto(into: Uint8Array, from: number): void {
    for (let at = 0; at < into.length;) {
      const read = readSync(this.#file, into, at, into.length - at, from + at);
      if (read === 0)
        throw new Error(`the file ends at ${String(from + at)} bytes and should have ${String(this.size)}`);
      at += read;
    }
  }

  /** Returns how many bytes from `from` on equal those of `bytes` from `at` on. */
  sameAfter(from: number, bytes: Uint8Array, at: number): number {
    let same = 0;
    // Most hash matches are real; a short first comparison detects the others.
    for (let length = 256; ; length = pieceSize) {
      const piece = this.read(from + same, Math.min(length, bytes.length - at - same));
      if (piece.length === 0) return same;
      const differs = firstDifference(piece, bytes, at + same);
      same += differs;
      if (differs < piece.length) return same;
    }
  }

  /** Returns how many bytes before `from` equal those of `bytes` before `at`, at most `maxLength`. */
  sameBefore(from: number, bytes: Uint8Array, at: number, maxLength: number): number {
    let same = 0;
    for (let length = 256; ; length = 4096) {
      const stepLength = Math.min(length, from - same, maxLength - same);
      if (stepLength === 0) return same;
      const piece = this.read(from - same - stepLength, stepLength);
      let left = stepLength;
      while (left > 0 && piece[left - 1] === bytes[at - same - stepLength + left - 1]) left--;
      same += stepLength - left;
      if (left > 0) return same;
    }
  }
}

/** `Buffer.compare` compares 64 KiB in 2 µs, a loop over the bytes in 60 µs. */
function firstDifference(piece: Buffer, bytes: Uint8Array, at: number): number {
  let low = 0;
  if (piece.compare(bytes, at, at + piece.length) === 0) return piece.length;
  // Bisect while a half is large enough to justify a call.
  let high = piece.length;
  while (high - low > 64) {
    const middle = (low + high) >>> 1;
    if (piece.compare(bytes, at + low, at + middle, low, middle) === 0) low = middle;
    else high = middle;
  }
  while (piece[low] === bytes[at + low]) low++;
  return low;
}

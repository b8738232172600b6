// Unpacks LZMA2: chunks of bytes, uncompressed or packed with LZMA. Written from the LZMA specification of the LZMA SDK
// and the description of the chunks in "The .xz File Format".
//
// LZMA describes its output as single bytes and matches, in bits with adaptive probabilities; a range coder turns those
// bits into bytes. The whole output serves as the dictionary, so no other buffer is needed.

/**
 * Unpacks chunks from `start`, into `out` from `written` on. Returns both final positions; undefined if the chunks are
 * corrupt.
 */
export function unpackLzma2(
  packed: Uint8Array,
  start: number,
  out: Uint8Array,
  written: number,
  dictionarySize: number,
): { read: number; written: number } | undefined {
  let read = start;
  /** The start of the dictionary: no match reaches further back. */
  let dictionary = -1;
  const decoder = new LzmaDecoder();
  for (;;) {
    const control = packed[read++];
    if (control === 0) return { read, written };
    if (control === undefined || (control > 2 && control < 0x80)) return undefined;
    if (control === 1 || control >= 0xe0) {
      dictionary = written;
      decoder.ready = false;
    } else if (dictionary < 0) return undefined;

    const high = control < 0x80 ? 0 : control & 0x1f;
    const unpackedSize = (high << 16) + ((packed[read] ?? 0) << 8) + (packed[read + 1] ?? 0) + 1;
    read += 2;
    if (written + unpackedSize > out.length) return undefined;

    if (control < 0x80) {
      if (read + unpackedSize > packed.length) return undefined;
      out.set(packed.subarray(read, read + unpackedSize), written);
      read += unpackedSize;
    } else {
      const packedSize = ((packed[read] ?? 0) << 8) + (packed[read + 1] ?? 0) + 1;
      read += 2;
      if (control >= 0xc0) decoder.configure(packed[read++] ?? 0xff);
      else if (control >= 0xa0) decoder.reset();
      if (!decoder.ready || read + packedSize > packed.length) return undefined;
      const ok = decoder.decode(
        packed,
        read,
        read + packedSize,
        out,
        written,
        unpackedSize,
        dictionary,
        dictionarySize,
      );
      if (!ok) return undefined;
      read += packedSize;
    }
    written += unpackedSize;
  }
}

const states = 12;
/** States below this one follow a literal. */
const firstMatchState = 7;
const positionStates = 16;
const shortestMatch = 2;
const evens = 1024;
/** lc and lp together, in LZMA2. */
const mostLiteralBits = 4;

/** The coding of a match's length: below 8, below 16, or more. */
interface LengthProbabilities {
  choice: Uint16Array;
  low: Uint16Array;
  mid: Uint16Array;
  high: Uint16Array;
}

const lengthProbabilities = (): LengthProbabilities => ({
  choice: new Uint16Array(2),
  low: new Uint16Array(positionStates << 3),
  mid: new Uint16Array(positionStates << 3),
  high: new Uint16Array(1 << 8),
});

class LzmaDecoder {
  /** Whether its properties are set, so that it can decode. */
  ready = false;
  lc = 0;
  literalMask = 0;
  positionMask = 0;

  readonly literals = new Uint16Array(0x300 << mostLiteralBits);
  readonly isMatch = new Uint16Array(states * positionStates);
  readonly isRepeat = new Uint16Array(states);
  readonly isRepeat0 = new Uint16Array(states);
  readonly isRepeat1 = new Uint16Array(states);
  readonly isRepeat2 = new Uint16Array(states);
  readonly isRepeat0Long = new Uint16Array(states * positionStates);
  readonly distanceSlots = new Uint16Array(4 << 6);
  readonly distanceSpecial = new Uint16Array(128);
  readonly distanceAlign = new Uint16Array(16);
  readonly matchLengths = lengthProbabilities();
  readonly repeatLengths = lengthProbabilities();

  state = 0;
  // The last four distances, each minus one, the latest first.
  repeat0 = 0;
  repeat1 = 0;
  repeat2 = 0;
  repeat3 = 0;

  // The range coder. Both numbers are unsigned 32-bit integers, stored as signed ones: a bit takes two thirds of the
  // time, a whole program of 6 MB 280 ms instead of 340 ms (`npm run bench -- tricks`).
  input: Uint8Array = new Uint8Array();
  position = 0;
  range = 0;
  code = 0;

  /** Sets the properties from their byte, (pb × 5 + lp) × 9 + lc; stays unready if LZMA2 does not allow them. */
  configure(properties: number): void {
    const lp = Math.floor(properties / 9) % 5;
    const pb = Math.floor(properties / 45);
    this.lc = properties % 9;
    this.literalMask = (1 << lp) - 1;
    this.positionMask = (1 << pb) - 1;
    this.ready = pb <= 4 && this.lc + lp <= mostLiteralBits;
    this.reset();
  }

  reset(): void {
    this.state = 0;
    this.repeat0 = this.repeat1 = this.repeat2 = this.repeat3 = 0;
    const { matchLengths: match, repeatLengths: repeat } = this;
    for (const probabilities of [
      this.literals,
      this.isMatch,
      this.isRepeat,
      this.isRepeat0,
      this.isRepeat1,
      this.isRepeat2,
      this.isRepeat0Long,
      this.distanceSlots,
      this.distanceSpecial,
      this.distanceAlign,
      ...[match.choice, match.low, match.mid, match.high],
      ...[repeat.choice, repeat.low, repeat.mid, repeat.high],
    ]) {
      probabilities.fill(evens);
    }
  }

  /** Decodes one chunk: `input` from `start` to `end` must give exactly `size` bytes of `out`. Returns false if it does not. */
  decode(
    input: Uint8Array,
    start: number,
    end: number,
    out: Uint8Array,
    written: number,
    size: number,
    dictionary: number,
    dictionarySize: number,
  ): boolean {
    if (end - start < 5 || input[start] !== 0) return false;
    this.input = input;
    this.position = start + 1;
    this.range = -1;
    this.code = 0;
    for (let index = 0; index < 4; index++) this.code = (this.code << 8) | (input[this.position++] ?? 0);

    const outEnd = written + size;
    let at = written;
    while (at < outEnd) {
      // Reading past the end gives zeros until it is noticed here.
      if (this.position > end) return false;
      const positionState = (at - dictionary) & this.positionMask;
      const context = (this.state << 4) + positionState;
      if (this.bit(this.isMatch, context) === 0) {
        out[at] = this.literal(out, at, dictionary);
        at++;
        continue;
      }
      let length = 1;
      if (this.bit(this.isRepeat, this.state) === 0) {
        this.repeat3 = this.repeat2;
        this.repeat2 = this.repeat1;
        this.repeat1 = this.repeat0;
        length = this.length(this.matchLengths, positionState);
        this.repeat0 = this.distance(length);
        this.state = this.state < firstMatchState ? 7 : 10;
      } else if (this.repeatedDistance(context)) {
        length = this.length(this.repeatLengths, positionState);
        this.state = this.state < firstMatchState ? 8 : 11;
      } else {
        this.state = this.state < firstMatchState ? 9 : 11;
      }
      // Read as unsigned, the end mark of LZMA is a distance above every limit. It is refused as LZMA2 requires.
      const distance = (this.repeat0 >>> 0) + 1;
      if (distance > at - dictionary || distance > dictionarySize || at + length > outEnd) return false;
      for (const matchEnd = at + length; at < matchEnd; at++) out[at] = out[at - distance] ?? 0;
    }
    return this.position === end && this.code === 0;
  }

  private literal(out: Uint8Array, at: number, dictionary: number): number {
    const previous = at > dictionary ? (out[at - 1] ?? 0) : 0;
    const offset = 0x300 * ((((at - dictionary) & this.literalMask) << this.lc) + (previous >> (8 - this.lc)));
    let symbol = 1;
    if (this.state >= firstMatchState) {
      // After a match, the byte that would have continued it predicts this one, until the first different bit.
      let hint = out[at - (this.repeat0 >>> 0) - 1] ?? 0;
      while (symbol < 0x100) {
        const hinted = (hint >> 7) & 1;
        hint <<= 1;
        const bit = this.bit(this.literals, offset + ((1 + hinted) << 8) + symbol);
        symbol = (symbol << 1) | bit;
        if (bit !== hinted) break;
      }
    }
    while (symbol < 0x100) symbol = (symbol << 1) | this.bit(this.literals, offset + symbol);
    this.state = this.state < 4 ? 0 : this.state < 10 ? this.state - 3 : this.state - 6;
    return symbol & 0xff;
  }

  /** Moves one of the last four distances to the front; returns false if it is the latest, for a single byte. */
  private repeatedDistance(context: number): boolean {
    if (this.bit(this.isRepeat0, this.state) === 0) return this.bit(this.isRepeat0Long, context) === 1;
    let distance = this.repeat1;
    if (this.bit(this.isRepeat1, this.state) === 1) {
      distance = this.repeat2;
      if (this.bit(this.isRepeat2, this.state) === 1) {
        distance = this.repeat3;
        this.repeat3 = this.repeat2;
      }
      this.repeat2 = this.repeat1;
    }
    this.repeat1 = this.repeat0;
    this.repeat0 = distance;
    return true;
  }

  private length(probabilities: LengthProbabilities, positionState: number): number {
    if (this.bit(probabilities.choice, 0) === 0) {
      return shortestMatch + this.tree(probabilities.low, positionState << 3, 3);
    }
    if (this.bit(probabilities.choice, 1) === 0) {
      return shortestMatch + 8 + this.tree(probabilities.mid, positionState << 3, 3);
    }
    return shortestMatch + 16 + this.tree(probabilities.high, 0, 8);
  }

  /** A distance minus one, as a 32-bit number. */
  private distance(length: number): number {
    const slot = this.tree(this.distanceSlots, Math.min(length - shortestMatch, 3) << 6, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const high = (2 | (slot & 1)) << bits;
    if (slot < 14) return high + this.reverseTree(this.distanceSpecial, high - slot, bits);
    const middle = this.evenBits(bits - 4) << 4;
    return (high + middle + this.reverseTree(this.distanceAlign, 0, 4)) | 0;
  }

  private tree(probabilities: Uint16Array, offset: number, bits: number): number {
    let symbol = 1;
    for (let index = 0; index < bits; index++) symbol = (symbol << 1) | this.bit(probabilities, offset + symbol);
    return symbol - (1 << bits);
  }

  private reverseTree(probabilities: Uint16Array, offset: number, bits: number): number {
    let node = 1;
    let symbol = 0;
    for (let index = 0; index < bits; index++) {
      const bit = this.bit(probabilities, offset + node);
      node = (node << 1) | bit;
      symbol |= bit << index;
    }
    return symbol;
  }

  /** Bits without a probability, the highest first. */
  private evenBits(count: number): number {
    let value = 0;
    for (let index = 0; index < count; index++) {
      this.range >>>= 1;
      let bit = 0;
      if (this.code >>> 0 >= this.range) {
        this.code = (this.code - this.range) | 0;
        bit = 1;
      }
      value = (value << 1) | bit;
      this.normalize();
    }
    return value;
  }

  private bit(probabilities: Uint16Array, index: number): 0 | 1 {
    const probability = probabilities[index] ?? evens;
    const bound = Math.imul(this.range >>> 11, probability);
    let bit: 0 | 1;
    if (this.code >>> 0 < bound >>> 0) {
      this.range = bound;
      probabilities[index] = probability + ((2048 - probability) >> 5);
      bit = 0;
    } else {
      this.range = (this.range - bound) | 0;
      this.code = (this.code - bound) | 0;
      probabilities[index] = probability - (probability >> 5);
      bit = 1;
    }
    this.normalize();
    return bit;
  }

  private normalize(): void {
    if (this.range >>> 24 !== 0) return;
    this.range <<= 8;
    this.code = (this.code << 8) | (this.input[this.position++] ?? 0);
  }
}

// QR codes (ISO/IEC 18004): a text as a square of dark and light modules, which cameras of phones read. Bytes, with the level of
// correction M, which still reads with 15 % of it dirty; as large as it has to be.

/** Of each version from 1 on: how many codewords of correction a block has, and how many blocks there are. */
const corrections = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const blockCounts = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];

/** What the two bits of level M are in the format. */
const levelBits = 0;

/** The modules of a text, row by row; true is dark. Refuses a text of more than 666 bytes. */
export function qrCode(text: string): boolean[][] {
  const bytes = Buffer.from(text);
  const version = corrections.findIndex((_, at) => bytes.length <= capacity(at + 1)) + 1;
  if (version === 0) throw new RangeError(`a QR code of this kind holds no ${bytes.length} bytes`);
  const codewords = interleaved(version, dataOf(bytes, version));
  const square = new Square(version);
  square.drawPatterns();
  square.drawCodewords(codewords);
  return square.bestMasked();
}

const sizeOf = (version: number): number => 4 * version + 17;

/** How many codewords a version has room for beside its patterns. */
function roomOf(version: number): number {
  const alignments = version === 1 ? 0 : Math.floor(version / 7) + 2;
  let modules = (16 * version + 128) * version + 64;
  if (version > 1) modules -= (25 * alignments - 10) * alignments - 55;
  if (version >= 7) modules -= 36;
  return Math.floor(modules / 8);
}

const dataRoomOf = (version: number): number => roomOf(version) - corrections[version - 1]! * blockCounts[version - 1]!;

/** How many bits say how many bytes follow. */
const lengthBits = (version: number): number => (version < 10 ? 8 : 16);

const capacity = (version: number): number => Math.floor((8 * dataRoomOf(version) - 4 - lengthBits(version)) / 8);

/** The codewords of the data: that they are bytes, how many, the bytes, and what fills the rest. */
function dataOf(bytes: Buffer, version: number): number[] {
  const bits: number[] = [];
  const append = (value: number, count: number): void => {
    for (let at = count - 1; at >= 0; at--) bits.push((value >>> at) & 1);
  };
  append(0b0100, 4);
  append(bytes.length, lengthBits(version));
  for (const byte of bytes) append(byte, 8);
  const room = 8 * dataRoomOf(version);
  append(0, Math.min(4, room - bits.length));
  append(0, (8 - (bits.length % 8)) % 8);
  for (let fill = 0xec; bits.length < room; fill ^= 0xec ^ 0x11) append(fill, 8);
  return Array.from({ length: bits.length / 8 }, (_, at) =>
    bits.slice(8 * at, 8 * at + 8).reduce((byte, bit) => 2 * byte + bit, 0),
  );
}

/** The data in its blocks, each with its correction, in the order in which they are drawn. */
function interleaved(version: number, data: readonly number[]): number[] {
  const [count, correction, all] = [blockCounts[version - 1]!, corrections[version - 1]!, roomOf(version)];
  const divisor = divisorOf(correction);
  const short = Math.floor(all / count) - correction;
  const shortCount = count - (all % count);
  const blocks: number[][] = [];
  for (let at = 0, from = 0; at < count; at++) {
    const length = short + (at < shortCount ? 0 : 1);
    blocks.push(data.slice(from, from + length));
    from += length;
  }
  const checks = blocks.map((block) => remainderOf(block, divisor));
  const inTurn = (lists: number[][], longest: number): number[] =>
    Array.from({ length: longest }, (_, at) => lists.flatMap((list) => (at < list.length ? [list[at]!] : []))).flat();
  return [...inTurn(blocks, short + 1), ...inTurn(checks, correction)];
}

/** Multiplies in the field of 256 elements, modulo x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(one: number, other: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((other >>> bit) & 1) * one;
  }
  return product;
}

/** The polynomial of Reed and Solomon of this degree, without its highest coefficient, which is 1. */
function divisorOf(degree: number): number[] {
  const result = [...Array.from({ length: degree - 1 }, () => 0), 1];
  let root = 1;
  for (let times = 0; times < degree; times++) {
    for (let at = 0; at < degree; at++) result[at] = multiply(result[at]!, root) ^ (result[at + 1] ?? 0);
    root = multiply(root, 2);
  }
  return result;
}

function remainderOf(data: readonly number[], divisor: readonly number[]): number[] {
  const result = divisor.map(() => 0);
  for (const byte of data) {
    const factor = byte ^ result.shift()!;
    result.push(0);
    for (const [at, coefficient] of divisor.entries()) result[at]! ^= multiply(coefficient, factor);
  }
  return result;
}

/** Which modules each of the eight masks turns over. */
const masks: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

class Square {
  readonly #version: number;
  readonly #size: number;
  readonly #dark: boolean[][];
  /** What belongs to a pattern, and holds no data. */
  readonly #taken: boolean[][];

  constructor(version: number) {
    this.#version = version;
    this.#size = sizeOf(version);
    const blank = (): boolean[][] => Array.from({ length: this.#size }, () => Array<boolean>(this.#size).fill(false));
    [this.#dark, this.#taken] = [blank(), blank()];
  }

  drawPatterns(): void {
    const size = this.#size;
    for (let at = 0; at < size; at++) {
      this.#set(6, at, at % 2 === 0);
      this.#set(at, 6, at % 2 === 0);
    }
    for (const [x, y] of [
      [3, 3],
      [size - 4, 3],
      [3, size - 4],
    ] as const)
      this.#rings(x, y, 4);
    const places = this.#alignments();
    const last = places.length - 1;
    for (const [row, y] of places.entries()) {
      for (const [column, x] of places.entries()) {
        const isCorner = (row === 0 && (column === 0 || column === last)) || (row === last && column === 0);
        if (!isCorner) this.#rings(x, y, 2);
      }
    }
    this.#drawFormat(0);
    if (this.#version >= 7) this.#drawVersion();
  }

  /** From the lower right, two columns at a time, upwards and downwards in turn, around the patterns. */
  drawCodewords(codewords: readonly number[]): void {
    const size = this.#size;
    let bit = 0;
    for (let right = size - 1; right >= 1; right -= 2) {
      if (right === 6) right = 5;
      for (let step = 0; step < size; step++) {
        for (const x of [right, right - 1]) {
          const y = ((right + 1) & 2) === 0 ? size - 1 - step : step;
          if (this.#taken[y]![x]! || bit >= 8 * codewords.length) continue;
          this.#dark[y]![x] = ((codewords[bit >>> 3]! >>> (7 - (bit & 7))) & 1) === 1;
          bit++;
        }
      }
    }
  }

  /** The modules under the mask with which they are read best. */
  bestMasked(): boolean[][] {
    const tried = masks.map((_, mask) => {
      this.#drawFormat(mask);
      const modules = this.#masked(mask);
      return { modules, penalty: penaltyOf(modules) };
    });
    return tried.reduce((best, one) => (one.penalty < best.penalty ? one : best)).modules;
  }

  #masked(mask: number): boolean[][] {
    const turns = masks[mask]!;
    return this.#dark.map((row, y) => row.map((dark, x) => (this.#taken[y]![x]! ? dark : dark !== turns(x, y))));
  }

  #set(x: number, y: number, dark: boolean): void {
    this.#dark[y]![x] = dark;
    this.#taken[y]![x] = true;
  }

  /** Rings around a place, as far as the square goes: those of a corner reach to 4, those of an alignment to 2. */
  #rings(x: number, y: number, reach: 4 | 2): void {
    const light = reach === 4 ? [2, 4] : [1];
    for (let down = -reach; down <= reach; down++) {
      for (let across = -reach; across <= reach; across++) {
        const [column, row] = [x + across, y + down];
        if (column < 0 || row < 0 || column >= this.#size || row >= this.#size) continue;
        this.#set(column, row, !light.includes(Math.max(Math.abs(across), Math.abs(down))));
      }
    }
  }

  #alignments(): number[] {
    if (this.#version === 1) return [];
    const count = Math.floor(this.#version / 7) + 2;
    const step = Math.ceil((this.#size - 13) / (2 * count - 2)) * 2;
    const behind = Array.from({ length: count - 1 }, (_, at) => this.#size - 7 - at * step);
    return [6, ...behind.reverse()];
  }

  /** The level and the mask, with their correction, twice. */
  #drawFormat(mask: number): void {
    const data = (levelBits << 3) | mask;
    let rest = data;
    for (let times = 0; times < 10; times++) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
    const bits = ((data << 10) | rest) ^ 0x5412;
    const bit = (at: number): boolean => ((bits >>> at) & 1) === 1;
    const size = this.#size;
    for (let at = 0; at <= 5; at++) this.#set(8, at, bit(at));
    this.#set(8, 7, bit(6));
    this.#set(8, 8, bit(7));
    this.#set(7, 8, bit(8));
    for (let at = 9; at < 15; at++) this.#set(14 - at, 8, bit(at));
    for (let at = 0; at < 8; at++) this.#set(size - 1 - at, 8, bit(at));
    for (let at = 8; at < 15; at++) this.#set(8, size - 15 + at, bit(at));
    this.#set(8, size - 8, true);
  }

  /** The version, with its correction, twice. */
  #drawVersion(): void {
    let rest = this.#version;
    for (let times = 0; times < 12; times++) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
    const bits = (this.#version << 12) | rest;
    for (let at = 0; at < 18; at++) {
      const [long, short] = [this.#size - 11 + (at % 3), Math.floor(at / 3)];
      const dark = ((bits >>> at) & 1) === 1;
      this.#set(long, short, dark);
      this.#set(short, long, dark);
    }
  }
}

/** How badly modules are read: long runs, blocks, what looks like the pattern of a corner, and too much of one kind. */
function penaltyOf(modules: readonly (readonly boolean[])[]): number {
  const size = modules.length;
  const columns = modules.map((_, x) => modules.map((row) => row[x]!));
  const lines = [...modules, ...columns];
  let penalty = 0;
  for (const line of lines) penalty += runsIn(line) + cornersIn(line);
  for (let y = 0; y + 1 < size; y++) {
    for (let x = 0; x + 1 < size; x++) {
      const dark = modules[y]![x]!;
      if (dark === modules[y]![x + 1]! && dark === modules[y + 1]![x]! && dark === modules[y + 1]![x + 1]!)
        penalty += 3;
    }
  }
  const dark = modules.flat().filter(Boolean).length;
  return penalty + 10 * Math.floor(Math.abs(20 * dark - 10 * size * size) / (size * size));
}

function runsIn(line: readonly boolean[]): number {
  let penalty = 0;
  for (let from = 0; from < line.length;) {
    let to = from;
    while (to < line.length && line[to] === line[from]) to++;
    if (to - from >= 5) penalty += to - from - 2;
    from = to;
  }
  return penalty;
}

const corner = [true, false, true, true, true, false, true];

/** Dark, light, three dark, light, dark, with four light ones on one side; beyond the edge all is light. */
function cornersIn(line: readonly boolean[]): number {
  let penalty = 0;
  const isLight = (from: number): boolean => [0, 1, 2, 3].every((at) => line[from + at] !== true);
  for (let from = 0; from + corner.length <= line.length; from++) {
    if (!corner.every((dark, at) => line[from + at] === dark)) continue;
    penalty += (isLight(from - 4) ? 40 : 0) + (isLight(from + corner.length) ? 40 : 0);
  }
  return penalty;
}

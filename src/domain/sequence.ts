// Long lists with little memory: an item is parsed from its text each time it is read.

/** A list that can be iterated or read by index. Arrays are sequences. */
export interface Sequence<Item> {
  readonly length: number;
  at(index: number): Item | undefined;
  values(): IteratorObject<Item>;
  [Symbol.iterator](): IteratorObject<Item>;
}

/** A list of `length` items; each is created when it is read. */
export function sequenceOf<Item>(length: number, item: (index: number) => Item): Sequence<Item> {
  const values = function* (): Generator<Item, undefined> {
    for (let index = 0; index < length; index++) yield item(index);
    return undefined;
  };
  const at = (index: number): Item | undefined => (index >= 0 && index < length ? item(index) : undefined);
  return { length, at, values, [Symbol.iterator]: values };
}

/** A list with each item of another list converted when it is read. */
export function mapSequence<From, Item>(list: Sequence<From>, make: (item: From) => Item): Sequence<Item> {
  return {
    get length() {
      return list.length;
    },
    at(index) {
      const item = list.at(index);
      return item === undefined ? undefined : make(item);
    },
    values: () => list.values().map(make),
    [Symbol.iterator]: () => list.values().map(make),
  };
}

/** Storage for texts, such as a spill file. */
export interface SpillStorage {
  /** Adds a text or bytes. Returns their position and length in bytes. */
  add(text: string | Uint8Array): { begin: number; length: number };
  /** Returns the bytes at a position. They are valid until the next read. */
  read(begin: number, length: number): Buffer;
}

/** A growing list of JSON values. Its texts are stored outside the JavaScript heap, or in the given storage. */
export class PackedList<Item> implements Sequence<Item> {
  length = 0;
  /** The length of the JSON of its items with commas between them, in bytes. */
  byteLength = 0;
  readonly #aside: SpillStorage;
  /** The position and length in bytes of each item's text. */
  #places = new Float64Array(32);

  constructor(aside: SpillStorage = new Pages()) {
    this.#aside = aside;
  }

  add(item: Item): void {
    const { begin, length } = this.#aside.add(JSON.stringify(item));
    const at = this.length * 2;
    if (at === this.#places.length) {
      const before = this.#places;
      this.#places = new Float64Array(before.length * 2);
      this.#places.set(before);
    }
    this.#places[at] = begin;
    this.#places[at + 1] = length;
    this.byteLength += length + (this.length === 0 ? 0 : comma.length);
    this.length += 1;
  }

  at(index: number): Item | undefined {
    return index >= 0 && index < this.length ? (JSON.parse(this.#bytesAt(index).toString()) as Item) : undefined;
  }

  /** The JSON of its items with commas between them, in pieces that are valid until the next one is read. */
  *texts(): Generator<Buffer> {
    for (let index = 0; index < this.length; index++) {
      if (index > 0) yield comma;
      yield this.#bytesAt(index);
    }
  }

  *values(): Generator<Item, undefined> {
    for (let index = 0; index < this.length; index++) yield this.at(index)!;
    return undefined;
  }

  [Symbol.iterator](): Generator<Item, undefined> {
    return this.values();
  }

  /** For callers that serialize it as part of another value. */
  toJSON(): Item[] {
    return [...this.values()];
  }

  #bytesAt(index: number): Buffer {
    return this.#aside.read(this.#places[index * 2]!, this.#places[index * 2 + 1]!);
  }
}

const comma = Buffer.from(',');
const pageSize = 1024 * 1024;
/** Larger than any page. */
const betweenPages = 2 ** 32;

/** Texts in memory outside the JavaScript heap. */
class Pages implements SpillStorage {
  readonly #pages: Buffer[] = [];
  /** The number of used bytes in the last page. */
  #used = 0;

  add(text: string | Uint8Array): { begin: number; length: number } {
    const length = Buffer.byteLength(text);
    if (this.#pages.length === 0 || this.#used + length > this.#pages.at(-1)!.length) {
      this.#pages.push(Buffer.allocUnsafeSlow(Math.max(pageSize, length)));
      this.#used = 0;
    }
    const begin = this.#used;
    const page = this.#pages.at(-1)!;
    if (typeof text === 'string') page.write(text, begin);
    else page.set(text, begin);
    this.#used += length;
    return { begin: (this.#pages.length - 1) * betweenPages + begin, length };
  }

  read(begin: number, length: number): Buffer {
    const at = begin % betweenPages;
    return this.#pages[(begin - at) / betweenPages]!.subarray(at, at + length);
  }
}

/** The JSON of an object. Members that are packed lists are copied as text. */
export function jsonOf(value: unknown): string {
  const pieces = piecesOf(value);
  const size = (piece: JsonPiece): number => (typeof piece === 'string' ? Buffer.byteLength(piece) : piece.byteLength);
  // The buffer is freed at once, without waiting for the garbage collector.
  const memory = new ArrayBuffer(pieces.reduce((sum, piece) => sum + size(piece), 0));
  const bytes = Buffer.from(memory);
  let length = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') length += bytes.write(piece, length);
    else for (const text of piece.texts()) length += text.copy(bytes, length);
  }
  const text = bytes.toString();
  memory.transfer(0);
  return text;
}

/** The same as a stream of texts of about `size` characters each. */
export function* jsonTexts(value: unknown, size: number): Generator<string> {
  let texts: string[] = [];
  let length = 0;
  for (const piece of piecesOf(value)) {
    for (const text of typeof piece === 'string' ? [piece] : piece.texts()) {
      length += texts[texts.push(text.toString()) - 1]!.length;
      if (length < size) continue;
      yield texts.join('');
      [texts, length] = [[], 0];
    }
  }
  if (length > 0) yield texts.join('');
}

type JsonPiece = string | PackedList<unknown>;

function piecesOf(value: unknown): JsonPiece[] {
  if (value === null || typeof value !== 'object' || !Object.values(value).some(isPacked))
    return [JSON.stringify(value)];
  const pieces: JsonPiece[] = [];
  for (const [key, member] of Object.entries(value) as [string, unknown][]) {
    const whole = isPacked(member) ? ['[', member, ']'] : [JSON.stringify(member) as string | undefined];
    if (whole[0] === undefined) continue;
    pieces.push(pieces.length === 0 ? '{' : ',', JSON.stringify(key), ':', ...(whole as JsonPiece[]));
  }
  pieces.push('}');
  return pieces;
}

const isPacked = (value: unknown): value is PackedList<unknown> => value instanceof PackedList;

// Long lists of which little is in memory: they are gone through or looked into, and what is found is made of its text anew.

/** A list that is gone through, or looked into, item by item; an array is one. */
export interface Sequence<Item> {
  readonly length: number;
  at(index: number): Item | undefined;
  values(): IteratorObject<Item>;
  [Symbol.iterator](): IteratorObject<Item>;
}

/** A list of so many items, each of which is made whenever it is asked for. */
export function sequenceOf<Item>(length: number, item: (index: number) => Item): Sequence<Item> {
  const values = function* (): Generator<Item, undefined> {
    for (let index = 0; index < length; index++) yield item(index);
    return undefined;
  };
  const at = (index: number): Item | undefined => (index >= 0 && index < length ? item(index) : undefined);
  return { length, at, values, [Symbol.iterator]: values };
}

/** A list of what is made of each item of another one, whenever that is asked for. */
export function mapped<From, Item>(list: Sequence<From>, make: (one: From) => Item): Sequence<Item> {
  return {
    get length() {
      return list.length;
    },
    at(index) {
      const found = list.at(index);
      return found === undefined ? undefined : make(found);
    },
    values: () => list.values().map(make),
    [Symbol.iterator]: () => list.values().map(make),
  };
}

const pageSize = 1024 * 1024;

/** A list that grows, of what JSON can hold; kept as text, in pages outside of the heap. */
export class PackedList<Item> implements Sequence<Item> {
  /** Each holds items with a comma between them, so that its text stands in that of the list as it is. */
  #pages: Buffer[] = [];
  /** How much of each page is used. */
  readonly #used: number[] = [];
  /** Where each item lies: the number of its page, where it begins there, and where it ends. */
  readonly #places: number[] = [];

  get length(): number {
    return this.#places.length / 3;
  }

  add(item: Item): void {
    const text = JSON.stringify(item);
    const length = Buffer.byteLength(text);
    if (this.#end + 1 + length > this.#last.length) {
      this.#pages.push(Buffer.allocUnsafeSlow(Math.max(pageSize, length)));
      this.#used.push(0);
    }
    const begin = this.#end === 0 ? 0 : this.#end + this.#last.write(',', this.#end);
    const end = begin + this.#last.write(text, begin);
    this.#places.push(this.#pages.length - 1, begin, end);
    this.#used[this.#used.length - 1] = end;
  }

  at(index: number): Item | undefined {
    const [page, begin, end] = this.#places.slice(index * 3, index * 3 + 3);
    return page === undefined || index < 0
      ? undefined
      : (JSON.parse(this.#pages[page]!.toString('utf8', begin, end)) as Item);
  }

  /** The JSON of its items with a comma between them, in pieces. */
  *texts(): Generator<Buffer> {
    for (const [at, page] of this.#pages.entries()) {
      if (at > 0) yield comma;
      yield page.subarray(0, this.#used[at]);
    }
  }

  *values(): Generator<Item, undefined> {
    for (let index = 0; index < this.length; index++) yield this.at(index)!;
    return undefined;
  }

  [Symbol.iterator](): Generator<Item, undefined> {
    return this.values();
  }

  /** For whoever writes it with something else. */
  toJSON(): Item[] {
    return [...this.values()];
  }

  get #last(): Buffer {
    return this.#pages.at(-1) ?? none;
  }

  get #end(): number {
    return this.#used.at(-1) ?? 0;
  }
}

const none = Buffer.alloc(0);
const comma = Buffer.from(',');

/** JSON of an object, of which members may be such lists: their text is taken as it is, and put together once. */
export function jsonOf(value: unknown): string {
  if (value === null || typeof value !== 'object' || !Object.values(value).some(isPacked)) return JSON.stringify(value);
  const pieces: (string | Buffer)[] = [];
  for (const [key, said] of Object.entries(value) as [string, unknown][]) {
    const whole = isPacked(said) ? ['[', ...said.texts(), ']'] : [JSON.stringify(said) as string | undefined];
    if (whole[0] === undefined) continue;
    pieces.push(pieces.length === 0 ? '{' : ',', JSON.stringify(key), ':', ...(whole as (string | Buffer)[]));
  }
  pieces.push('}');
  return together(pieces);
}

/** One text of pieces; what it takes to make it is given back at once, and not when garbage is collected. */
function together(pieces: readonly (string | Buffer)[]): string {
  const memory = new ArrayBuffer(pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0));
  const bytes = Buffer.from(memory);
  let length = 0;
  for (const piece of pieces)
    length += typeof piece === 'string' ? bytes.write(piece, length) : piece.copy(bytes, length);
  const text = bytes.toString();
  memory.transfer(0);
  return text;
}

const isPacked = (value: unknown): value is PackedList<unknown> => value instanceof PackedList;

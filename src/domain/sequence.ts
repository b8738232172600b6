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
  *texts(): Generator<string> {
    for (const [at, page] of this.#pages.entries()) {
      if (at > 0) yield ',';
      yield page.toString('utf8', 0, this.#used[at]);
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

/** JSON of an object, of which members may be such lists: their text is taken as it is, and put together once. */
export function jsonOf(value: unknown): string {
  if (value === null || typeof value !== 'object' || !Object.values(value).some(isPacked)) return JSON.stringify(value);
  const texts: string[] = [];
  for (const [key, said] of Object.entries(value) as [string, unknown][]) {
    const pieces = isPacked(said) ? ['[', ...said.texts(), ']'] : [JSON.stringify(said) as string | undefined];
    if (pieces[0] === undefined) continue;
    texts.push(texts.length === 0 ? '{' : ',', JSON.stringify(key), ':', ...(pieces as string[]));
  }
  texts.push('}');
  return texts.join('');
}

const isPacked = (value: unknown): value is PackedList<unknown> => value instanceof PackedList;

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
  #pages: Buffer[] = [];
  /** How much of the last page is used. */
  #used = 0;
  /** Where each item lies: the number of its page, where it begins there, and where it ends. */
  readonly #places: number[] = [];

  get length(): number {
    return this.#places.length / 3;
  }

  add(item: Item): void {
    const text = JSON.stringify(item);
    const length = Buffer.byteLength(text);
    if (this.#used + length > this.#last.length) {
      this.#pages.push(Buffer.allocUnsafeSlow(Math.max(pageSize, length)));
      this.#used = 0;
    }
    this.#last.write(text, this.#used);
    this.#places.push(this.#pages.length - 1, this.#used, (this.#used += length));
  }

  at(index: number): Item | undefined {
    const text = this.textAt(index);
    return text === undefined ? undefined : (JSON.parse(text) as Item);
  }

  /** The JSON of an item. */
  textAt(index: number): string | undefined {
    const [page, begin, end] = this.#places.slice(index * 3, index * 3 + 3);
    return page === undefined || index < 0 ? undefined : this.#pages[page]!.toString('utf8', begin, end);
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
}

const none = Buffer.alloc(0);

/** JSON of an object, of which members may be such lists: their items are written one by one. */
export function jsonOf(value: unknown): string {
  if (value === null || typeof value !== 'object' || !Object.values(value).some(isPacked)) return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([key, said]: [string, unknown]) => {
    const text = isPacked(said) ? `[${textOfItems(said)}]` : (JSON.stringify(said) as string | undefined);
    return text === undefined ? [] : `${JSON.stringify(key)}:${text}`;
  });
  return `{${members.join(',')}}`;
}

const isPacked = (value: unknown): value is PackedList<unknown> => value instanceof PackedList;

function textOfItems(list: PackedList<unknown>): string {
  const texts: string[] = [];
  for (let index = 0; index < list.length; index++) texts.push(list.textAt(index) ?? 'null');
  return texts.join(',');
}

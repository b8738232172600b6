// Locates values in a canonical JSON text without parsing all of it, so that long lists can be read item by item.
import { sequenceOf, type Sequence } from '#domain/sequence.ts';

/** The offset of a value and the offset after its last byte. */
export interface JsonExtent {
  begin: number;
  end: number;
}

/** Thrown if a text is not JSON or contains white space. */
export class NotCanonical extends Error {
  override name = 'NotCanonical';
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Returns the members of the top-level object by name. Throws `NotCanonical`, also for a duplicate name. */
export function membersOfObject(bytes: Buffer): Map<string, JsonExtent> {
  const members = new Map<string, JsonExtent>();
  let at = expect(bytes, 0, openBrace);
  let before: string | undefined;
  while (before !== undefined || bytes[at] !== closeBrace) {
    const key = { begin: at, end: endOfText(bytes, at) };
    const name = parseExtent(bytes, key) as string;
    if (before !== undefined && name <= before) throw new NotCanonical('its keys are not in order');
    const begin = expect(bytes, key.end, colon);
    members.set((before = name), { begin, end: (at = endOf(bytes, begin)) });
    if (bytes[at] === closeBrace) break;
    at = expect(bytes, at, comma);
  }
  if (at !== bytes.length - 1) throw new NotCanonical('there are data after it');
  return members;
}

/** Returns the items of a list. Throws `NotCanonical` if it is not a list. */
export function itemsOf(bytes: Buffer, { begin, end }: JsonExtent): Extents {
  const items = new Extents();
  let at = expect(bytes, begin, openBracket);
  if (bytes[at] === closeBracket && at === end - 1) return items;
  for (; ; at++) {
    const of = { begin: at, end: (at = endOf(bytes, at)) };
    items.add(of);
    if (bytes[at] === closeBracket && at === end - 1) return items;
    expect(bytes, at, comma);
  }
}

/** A compact list of extents. */
export class Extents {
  #places = new Uint32Array(64);
  length = 0;

  add({ begin, end }: JsonExtent): void {
    if (this.length * 2 === this.#places.length) {
      const before = this.#places;
      this.#places = new Uint32Array(before.length * 2);
      this.#places.set(before);
    }
    this.#places.set([begin, end], this.length * 2);
    this.length += 1;
  }

  at(index: number): JsonExtent {
    return { begin: this.#places[index * 2]!, end: this.#places[index * 2 + 1]! };
  }
}

/** Returns the bytes of an extent, valid until the next call. */
export type BytesOf = (extent: JsonExtent) => Buffer;

/** Returns a list that parses each item when it is accessed, and keeps the last one: callers often access it several times in a row. */
export function listIn<Item>(bytesOf: BytesOf, items: Extents): Sequence<Item> {
  let last: { index: number; item: Item } | undefined;
  return sequenceOf(items.length, (index) => {
    if (last?.index !== index) last = { index, item: JSON.parse(bytesOf(items.at(index)).toString()) as Item };
    return last.item;
  });
}

export const textIn = (bytes: Buffer, { begin, end }: JsonExtent): string => bytes.toString('utf8', begin, end);

/** Parses a value. Throws `NotCanonical` if it is invalid. */
export const parseExtent = (bytes: Buffer, extent: JsonExtent): unknown => parseJson(textIn(bytes, extent));

/** Parses a text. Throws `NotCanonical` if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new NotCanonical('it cannot be read', { cause });
  }
}

function expect(bytes: Buffer, at: number, byte: number): number {
  if (bytes[at] === byte) return at + 1;
  throw new NotCanonical(`a byte at ${String(at)} is another one`);
}

/** Returns the end of a value. The caller checks whether the value is valid. */
function endOf(bytes: Buffer, begin: number): number {
  let depth = 0;
  for (let at = begin; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfText(bytes, at) - 1;
    else if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) {
      // This closes the object or list that contains the value.
      if (depth === 0) return at;
      depth -= 1;
    } else if (byte === comma && depth === 0) return at;
    else continue;
    if (depth === 0) return at + 1;
  }
  throw new NotCanonical('it is truncated');
}

function endOfText(bytes: Buffer, begin: number): number {
  for (let at = expect(bytes, begin, quote); ; at++) {
    at = bytes.indexOf(quote, at);
    if (at < 0) throw new NotCanonical('a text in it does not end');
    let escapes = 0;
    while (bytes[at - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
}

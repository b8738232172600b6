// JSON of which there is one form only: keys in the order of their UTF-16 units, no white space (RFC 8785 without its numbers
// that are not whole). So what was signed can be made again from what it says.

import type { Sequence } from '#domain/sequence.ts';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

export function canonical(value: unknown): string {
  // Most are in order as they come, and are written several times as fast then.
  if (isInOrder(value)) return JSON.stringify(value);
  return JSON.stringify(value, (_, one: Json) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

/** Whether all keys stand in their order already; of what is no plain object nobody says so. */
function isInOrder(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  let before: string | undefined;
  for (const [key, one] of Object.entries(value)) {
    if ((before !== undefined && key <= before) || !isInOrder(one)) return false;
    before = key;
  }
  return true;
}

type Said = Json | Sequence<unknown> | readonly Sequence<unknown>[];

/** The same of an object whose members may be long lists, which are written item by item; its members are sorted. */
export function canonicalBytes(value: Readonly<Record<string, unknown>>): Buffer {
  const writer = new Writer();
  writeObject(writer, value);
  return writer.bytes();
}

/** How many bytes that has. */
export function canonicalLength(value: Readonly<Record<string, unknown>>): number {
  let length = 0;
  const write = (text: string): void => {
    length += Buffer.byteLength(text);
  };
  writeObject({ write }, value);
  return length;
}

function writeObject(writer: Pick<Writer, 'write'>, value: Readonly<Record<string, unknown>>): void {
  let separator = '{';
  for (const [key, said] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (said === undefined) continue;
    writer.write(`${separator}${JSON.stringify(key)}:`);
    separator = ',';
    writeValue(writer, said as Said);
  }
  writer.write(separator === '{' ? '{}' : '}');
}

function writeValue(writer: Pick<Writer, 'write'>, said: Said): void {
  if (!isList(said)) {
    writer.write(canonical(said));
    return;
  }
  let separator = '[';
  for (const one of said as Iterable<Said>) {
    writer.write(separator);
    separator = ',';
    writeValue(writer, one);
  }
  writer.write(separator === '[' ? '[]' : ']');
}

const isList = (said: Said): boolean => said !== null && typeof said === 'object' && Symbol.iterator in said;

/** Text that grows, in memory outside of the heap, of which nothing is left behind as it grows. */
class Writer {
  #bytes = Buffer.from(new ArrayBuffer(64 * 1024));
  #length = 0;

  write(text: string): void {
    // No character takes more than three bytes for each of its UTF-16 units.
    const most = this.#length + text.length * 3;
    if (most > this.#bytes.length) {
      const before = this.#bytes.buffer;
      this.#bytes = Buffer.from(before.transfer(Math.max(most, before.byteLength * 2)));
    }
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** What was written, and no room behind it. */
  bytes(): Buffer {
    return Buffer.from(this.#bytes.buffer.transfer(this.#length));
  }
}

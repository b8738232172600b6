// Writes canonical JSON: keys in the order of their UTF-16 units, no white space (RFC 8785, integers only). A statement can thus be
// reproduced byte for byte from its content.

import type { Sequence } from './sequence.ts';

type CanonicalJson =
  string | number | boolean | null | readonly CanonicalJson[] | { readonly [key: string]: CanonicalJson | undefined };

export function toCanonicalText(value: unknown): string {
  // Most values are already in order and are written several times faster this way.
  if (isInOrder(value)) return JSON.stringify(value);
  return JSON.stringify(value, (_, nested: CanonicalJson) =>
    nested !== null && typeof nested === 'object' && !Array.isArray(nested)
      ? Object.fromEntries(Object.entries(nested).sort(([a], [b]) => (a < b ? -1 : 1)))
      : nested,
  );
}

/** Returns whether all keys are already in order. False for anything but plain objects and arrays. */
function isInOrder(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  let before: string | undefined;
  for (const [key, member] of Object.entries(value)) {
    if ((before !== undefined && key <= before) || !isInOrder(member)) return false;
    before = key;
  }
  return true;
}

type CanonicalValue = CanonicalJson | Sequence<unknown> | readonly Sequence<unknown>[];

/** Like `toCanonicalText`, for an object with long lists as members. Sorts the members and writes the lists item by item. */
export function toCanonicalBytes(value: Readonly<Record<string, unknown>>): Buffer {
  const writer = new Writer();
  writeObject(writer, value);
  return writer.bytes();
}

/** Returns the length of `toCanonicalBytes` in bytes. */
export function measureCanonical(value: Readonly<Record<string, unknown>>): number {
  let length = 0;
  const write = (text: string): void => {
    length += Buffer.byteLength(text);
  };
  writeObject({ write }, value);
  return length;
}

function writeObject(writer: Pick<Writer, 'write'>, value: Readonly<Record<string, unknown>>): void {
  let separator = '{';
  for (const [key, member] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (member === undefined) continue;
    writer.write(`${separator}${JSON.stringify(key)}:`);
    separator = ',';
    writeValue(writer, member as CanonicalValue);
  }
  writer.write(separator === '{' ? '{}' : '}');
}

function writeValue(writer: Pick<Writer, 'write'>, value: CanonicalValue): void {
  if (!isList(value)) {
    writer.write(toCanonicalText(value));
    return;
  }
  let separator = '[';
  for (const item of value as Iterable<CanonicalValue>) {
    writer.write(separator);
    separator = ',';
    writeValue(writer, item);
  }
  writer.write(separator === '[' ? '[]' : ']');
}

const isList = (value: CanonicalValue): boolean =>
  value !== null && typeof value === 'object' && Symbol.iterator in value;

/** A growing text outside the JavaScript heap. Growing leaves no garbage. */
class Writer {
  #bytes = Buffer.from(new ArrayBuffer(64 * 1024));
  #length = 0;

  write(text: string): void {
    // UTF-8 needs at most three bytes per UTF-16 unit.
    const maxLength = this.#length + text.length * 3;
    if (maxLength > this.#bytes.length) {
      const before = this.#bytes.buffer;
      this.#bytes = Buffer.from(before.transfer(Math.max(maxLength, before.byteLength * 2)));
    }
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Returns the written bytes, trimmed to their length. */
  bytes(): Buffer {
    return Buffer.from(this.#bytes.buffer.transfer(this.#length));
  }
}

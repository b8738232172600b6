// Encodings that all forms of a macaroon share: base64, UTF-8, JSON and variable-length integers. All readers are
// strict, return undefined for malformed input, and never throw.
import { isUtf8 } from 'node:buffer';

/**
 * Decodes base64 in either alphabet, padded or not. A text is accepted only in its canonical spelling: Node's decoder
 * ignores stray characters and unused bits, and would give one token many spellings.
 */
export function bytesFromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  const urlSafe = bytes.toString('base64url');
  const padding = '='.repeat((4 - (urlSafe.length % 4)) % 4);
  if (text === urlSafe || text === urlSafe + padding) return bytes;
  const standard = bytes.toString('base64');
  return text === standard || text + padding === standard ? bytes : undefined;
}

/** Decodes well-formed UTF-8; a byte-order mark stays, because it was signed. */
export function textFromBytes(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** Encodes a text as UTF-8; undefined if it has lone surrogates. */
export function bytesFromText(text: string): Buffer | undefined {
  return text.isWellFormed() ? Buffer.from(text, 'utf8') : undefined;
}

/** Parses JSON; undefined if it is malformed. */
export function valueFromJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object's own member; inherited members and null count as absent. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;
}

/** A position in bytes; reading advances it. */
export interface ByteCursor {
  readonly bytes: Buffer;
  at: number;
}

export function take(cursor: ByteCursor, length: number): Buffer | undefined {
  const end = cursor.at + length;
  if (end > cursor.bytes.length) return undefined;
  const taken = cursor.bytes.subarray(cursor.at, end);
  cursor.at = end;
  return taken;
}

/** The maximum bytes of an integer: it is always a length, and all lengths are far below 2^21. */
const longestUvarint = 3;

export function readUvarint(cursor: ByteCursor): number | undefined {
  let value = 0;
  for (let count = 0; count < longestUvarint; count += 1) {
    const byte = cursor.bytes[cursor.at];
    if (byte === undefined) return undefined;
    cursor.at += 1;
    value |= (byte & 0x7f) << (7 * count);
    // A last byte of zero is not the shortest form of the number.
    if (byte < 0x80) return byte === 0 && count > 0 ? undefined : value;
  }
  return undefined;
}

export function uvarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return Buffer.from([...bytes, rest]);
}

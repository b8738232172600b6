// Tokens in the form that clients send: one macaroon as text, or a root with its discharges as one text.
import { bakeryFromJson } from './bakery.ts';
import { readBinary, writeBinary, type BinaryVersion } from './binary.ts';
import { bytesFromBase64, textFromBytes, valueFromJson } from './encoding.ts';
import { toJson2 } from './json.ts';
import { limits, type DecodedMacaroon } from './macaroon.ts';

/** Writes unpadded base64url of the binary form, which clients that parse tokens expect. */
export function writeToken(macaroon: DecodedMacaroon, version: BinaryVersion = 2): string {
  return withinText(writeBinary(macaroon, version).toString('base64url'));
}

/** Reads a token: base64 of a binary form, in either alphabet, padded or not, or JSON in any form. */
export function readToken(text: string): DecodedMacaroon | undefined {
  if (Buffer.byteLength(text) > limits.text) return undefined;
  if (text.startsWith('{')) return bakeryFromJson(valueFromJson(text))?.macaroon;
  const bytes = bytesFromBase64(text);
  return bytes && readBinary(bytes);
}

/** Writes the `Macaroons` header: base64 of a JSON list, the root first and then its bound discharges. */
export function writeTokenList(macaroons: readonly DecodedMacaroon[]): string {
  return withinText(Buffer.from(JSON.stringify(macaroons.map(toJson2))).toString('base64url'));
}

/** Reads a `Macaroons` header: base64 of a JSON list, or the JSON itself. Undefined if it is malformed or empty. */
export function readTokenList(text: string): DecodedMacaroon[] | undefined {
  if (Buffer.byteLength(text) > limits.text) return undefined;
  if (text.startsWith('[')) return tokenListFromJson(valueFromJson(text));
  const bytes = bytesFromBase64(text);
  const json = bytes && textFromBytes(bytes);
  return json === undefined ? undefined : tokenListFromJson(valueFromJson(json));
}

/** Reads a parsed list; each item is the JSON of a macaroon, wrapped or not, or the text of a token. */
export function tokenListFromJson(value: unknown): DecodedMacaroon[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > 1 + limits.discharges) return undefined;
  const macaroons: DecodedMacaroon[] = [];
  for (const item of value as unknown[]) {
    const macaroon = typeof item === 'string' ? readToken(item) : bakeryFromJson(item)?.macaroon;
    if (!macaroon) return undefined;
    macaroons.push(macaroon);
  }
  return macaroons;
}

function withinText(text: string): string {
  if (text.length > limits.text) throw new Error('cannot write a token that is longer than the maximum for reading');
  return text;
}

// Tokens as clients carry them: one macaroon as text, and a root with its discharges as one text.
import { bakeryFromJson } from './bakery.ts';
import { readBinary, writeBinary, type BinaryVersion } from './binary.ts';
import { bytesFromBase64, textFromBytes, valueFromJson } from './encoding.ts';
import { toJson2 } from './json.ts';
import { limits, type Macaroon } from './macaroon.ts';

/** Unpadded base64url of the binary form: what clients that look into a token expect. */
export function writeToken(macaroon: Macaroon, version: BinaryVersion = 2): string {
  return withinText(writeBinary(macaroon, version).toString('base64url'));
}

/** The macaroon of a token: base64 in either alphabet, padded or not, of a binary form, or JSON text of any form. */
export function readToken(text: string): Macaroon | undefined {
  if (Buffer.byteLength(text) > limits.text) return undefined;
  if (text.startsWith('{')) return bakeryFromJson(valueFromJson(text))?.macaroon;
  const bytes = bytesFromBase64(text);
  return bytes && readBinary(bytes);
}

/** The `Macaroons` header: base64 of a JSON list, the root first and then its bound discharges. */
export function writeTokenList(macaroons: readonly Macaroon[]): string {
  return withinText(Buffer.from(JSON.stringify(macaroons.map(toJson2))).toString('base64url'));
}

/** The macaroons of such a list, or of its JSON text without the base64; one at least. */
export function readTokenList(text: string): Macaroon[] | undefined {
  if (Buffer.byteLength(text) > limits.text) return undefined;
  if (text.startsWith('[')) return tokenListFromJson(valueFromJson(text));
  const bytes = bytesFromBase64(text);
  const json = bytes && textFromBytes(bytes);
  return json === undefined ? undefined : tokenListFromJson(valueFromJson(json));
}

/** The macaroons of a parsed list; each item is the JSON of a macaroon, wrapped or not, or a token's text. */
export function tokenListFromJson(value: unknown): Macaroon[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > 1 + limits.discharges) return undefined;
  const macaroons: Macaroon[] = [];
  for (const item of value as unknown[]) {
    const macaroon = typeof item === 'string' ? readToken(item) : bakeryFromJson(item)?.macaroon;
    if (!macaroon) return undefined;
    macaroons.push(macaroon);
  }
  return macaroons;
}

function withinText(text: string): string {
  if (text.length > limits.text) throw new Error('cannot write a token that is longer than what is read');
  return text;
}

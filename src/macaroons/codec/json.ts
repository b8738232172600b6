// The JSON forms of a macaroon: version 1 with long names, version 2 with single letters and their base64 variants.
// Unknown members are ignored, because they are not signed.
import { bytesFromBase64, bytesFromText, isJsonObject, member, textFromBytes, type JsonObject } from './encoding.ts';
import { limits, macaroonFrom, type DecodedMacaroon, type ReadMacaroon } from './macaroon.ts';

export interface JsonMacaroon1 {
  caveats: { cid: string; vid?: string; cl?: string }[];
  location: string;
  identifier: string;
  signature: string;
}

export interface JsonMacaroon2 {
  c: { i?: string; i64?: string; v64?: string; l?: string }[];
  l: string;
  i?: string;
  i64?: string;
  s64: string;
}

/** Version 1 has only text: identifiers that are not UTF-8 cannot be written in it. */
export function toJson1({ location, identifier, caveats, signature }: DecodedMacaroon): JsonMacaroon1 {
  const text = (bytes: Buffer): string => {
    const written = textFromBytes(bytes);
    if (written === undefined) throw new Error('cannot write an identifier that is not UTF-8 as version 1 JSON');
    return written;
  };
  return {
    caveats: caveats.map((caveat) => ({
      cid: text(caveat.identifier),
      ...(caveat.verificationId && { vid: caveat.verificationId.toString('base64url'), cl: caveat.location ?? '' }),
    })),
    location,
    identifier: text(identifier),
    signature: signature.toString('hex'),
  };
}

/** Writes no member `v`, as the publisher gateways of the field do; every reader takes that as version 2. */
export function toJson2({ location, identifier, caveats, signature }: DecodedMacaroon): JsonMacaroon2 {
  return {
    c: caveats.map((caveat) => ({
      ...writtenIdentifier(caveat.identifier),
      ...(caveat.verificationId && { v64: caveat.verificationId.toString('base64url'), l: caveat.location ?? '' }),
    })),
    l: location,
    ...writtenIdentifier(identifier),
    s64: signature.toString('base64url'),
  };
}

function writtenIdentifier(bytes: Buffer): { i: string } | { i64: string } {
  const i = textFromBytes(bytes);
  return i === undefined ? { i64: bytes.toString('base64url') } : { i };
}

/** A macaroon with the version of its JSON form. */
export interface VersionedMacaroon {
  macaroon: DecodedMacaroon;
  version: 1 | 2;
}

/** Reads a macaroon from a parsed JSON value of either version; undefined if it is not one. */
export function fromJson(value: unknown): DecodedMacaroon | undefined {
  return versionedFromJson(value)?.macaroon;
}

export function versionedFromJson(value: unknown): VersionedMacaroon | undefined {
  if (!isJsonObject(value)) return undefined;
  const isVersion1 = ['signature', 'identifier'].some((name) => Object.hasOwn(value, name));
  const isVersion2 = ['s', 's64', 'i', 'i64'].some((name) => Object.hasOwn(value, name));
  if (isVersion1 === isVersion2) return undefined;
  const read = isVersion1 ? readVersion1(value) : readVersion2(value);
  const macaroon = read && macaroonFrom(read);
  return macaroon && { macaroon, version: isVersion1 ? 1 : 2 };
}

type ReadCaveat = ReadMacaroon['caveats'][number];

function readVersion1(value: JsonObject): ReadMacaroon | undefined {
  const location = member(value, 'location');
  const identifier = bytesIn(value, 'identifier');
  const signature = member(value, 'signature');
  const caveats = readCaveats(member(value, 'caveats'), readCaveat1);
  if (!isTextOrAbsent(location) || typeof identifier === 'string' || !caveats) return undefined;
  if (typeof signature !== 'string' || !/^[0-9a-fA-F]{64}$/.test(signature)) return undefined;
  return { location, identifier, caveats, signature: Buffer.from(signature, 'hex') };
}

function readCaveat1(value: JsonObject): ReadCaveat | undefined {
  const identifier = bytesIn(value, 'cid');
  const verificationId = bytesIn(value, 'vid', bytesFromBase64);
  const location = member(value, 'cl');
  if (typeof identifier === 'string' || verificationId === 'malformed' || !isTextOrAbsent(location)) return undefined;
  return { identifier, verificationId: present(verificationId), location };
}

function readVersion2(value: JsonObject): ReadMacaroon | undefined {
  const version = member(value, 'v');
  const location = member(value, 'l');
  const identifier = eitherBytes(value, 'i');
  const signature = eitherBytes(value, 's');
  const caveats = readCaveats(member(value, 'c'), readCaveat2);
  // The format defines the version as a string; the JavaScript implementation writes a number.
  if (version !== undefined && version !== 2 && version !== '2') return undefined;
  if (!isTextOrAbsent(location) || !caveats) return undefined;
  if (typeof identifier === 'string' || typeof signature === 'string') return undefined;
  return { location, identifier, caveats, signature };
}

function readCaveat2(value: JsonObject): ReadCaveat | undefined {
  const identifier = eitherBytes(value, 'i');
  const verificationId = eitherBytes(value, 'v');
  const location = member(value, 'l');
  if (typeof identifier === 'string' || verificationId === 'malformed' || !isTextOrAbsent(location)) return undefined;
  return { identifier, verificationId: present(verificationId), location };
}

function readCaveats(value: unknown, read: (caveat: JsonObject) => ReadCaveat | undefined): ReadCaveat[] | undefined {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > limits.caveats) return undefined;
  const caveats: ReadCaveat[] = [];
  for (const item of value as unknown[]) {
    const caveat = isJsonObject(item) ? read(item) : undefined;
    if (!caveat) return undefined;
    caveats.push(caveat);
  }
  return caveats;
}

type MemberBytes = Buffer | 'absent' | 'malformed';

/** Reads a member of version 2: text under its letter, or base64 under the letter followed by 64, but not both. */
function eitherBytes(object: JsonObject, letter: string): MemberBytes {
  const text = bytesIn(object, letter);
  const base64 = bytesIn(object, `${letter}64`, bytesFromBase64);
  if (text === 'absent') return base64;
  return base64 === 'absent' ? text : 'malformed';
}

function bytesIn(
  object: JsonObject,
  name: string,
  read: (text: string) => Buffer | undefined = bytesFromText,
): MemberBytes {
  const text = member(object, name);
  if (text === undefined) return 'absent';
  return (typeof text === 'string' ? read(text) : undefined) ?? 'malformed';
}

function present(bytes: Buffer | 'absent'): Buffer | undefined {
  return bytes === 'absent' ? undefined : bytes;
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value.isWellFormed());
}

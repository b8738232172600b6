// The binary forms of a macaroon, versions 1 and 2 (libmacaroons, doc/format.txt), one or several in a row. Reading is
// strict: fields in order, lengths in their shortest form, no trailing bytes.
import { textFromBytes, readUvarint, take, uvarint, type ByteCursor } from './encoding.ts';
import { limits, macaroonFrom, type DecodedMacaroon, type ReadMacaroon } from './macaroon.ts';

export type BinaryVersion = 1 | 2;

export function writeBinary(macaroon: DecodedMacaroon, version: BinaryVersion = 2): Buffer {
  return Buffer.concat(version === 1 ? version1(macaroon) : version2(macaroon));
}

/** Reads one macaroon of either version; undefined if the bytes are anything else. */
export function readBinary(bytes: Buffer): DecodedMacaroon | undefined {
  const list = readBinaryList(bytes);
  return list?.length === 1 ? list[0] : undefined;
}

/** Writes a root and its discharges one after the other, the form that agents send. */
export function writeBinaryList(macaroons: readonly DecodedMacaroon[], version: BinaryVersion = 2): Buffer {
  return Buffer.concat(macaroons.map((macaroon) => writeBinary(macaroon, version)));
}

/** Reads one or more macaroons; undefined if the bytes contain anything else. */
export function readBinaryList(bytes: Buffer): DecodedMacaroon[] | undefined {
  if (bytes.length > limits.text) return undefined;
  const cursor: ByteCursor = { bytes, at: 0 };
  const macaroons: DecodedMacaroon[] = [];
  while (cursor.at < bytes.length) {
    const macaroon = readNext(cursor);
    if (!macaroon || macaroons.length > limits.discharges) return undefined;
    macaroons.push(macaroon);
  }
  return macaroons.length > 0 ? macaroons : undefined;
}

/** Version 2 starts with its number, version 1 with the first hexadecimal digit of a length. */
function readNext(cursor: ByteCursor): DecodedMacaroon | undefined {
  const read = cursor.bytes[cursor.at] === 2 ? readVersion2(cursor) : readVersion1(cursor);
  return read && macaroonFrom(read);
}

// Version 2: fields of one byte type, length and bytes; a zero ends the head, each caveat, and the list of caveats.

const types = { end: 0, location: 1, identifier: 2, verificationId: 4, signature: 6 } as const;

function version2(macaroon: DecodedMacaroon): Buffer[] {
  const field = (type: number, bytes: Buffer): Buffer[] => [Buffer.from([type]), uvarint(bytes.length), bytes];
  const place = (text: string | undefined): Buffer[] => (text ? field(types.location, Buffer.from(text)) : []);
  const stop = Buffer.from([types.end]);
  return [
    Buffer.from([2]),
    ...place(macaroon.location),
    ...field(types.identifier, macaroon.identifier),
    stop,
    ...macaroon.caveats.flatMap((caveat) => [
      ...place(caveat.location),
      ...field(types.identifier, caveat.identifier),
      ...(caveat.verificationId ? field(types.verificationId, caveat.verificationId) : []),
      stop,
    ]),
    stop,
    ...field(types.signature, macaroon.signature),
  ];
}

function readVersion2(cursor: ByteCursor): ReadMacaroon | undefined {
  cursor.at += 1;
  const head = readSection(cursor);
  if (!head?.identifier || head.verificationId) return undefined;
  const caveats: ReadMacaroon['caveats'] = [];
  for (;;) {
    const section = readSection(cursor);
    if (!section) return undefined;
    const { location, identifier, verificationId } = section;
    if (!identifier && (verificationId || location !== undefined)) return undefined;
    if (!identifier) break;
    if (caveats.length === limits.caveats) return undefined;
    caveats.push({ location, identifier, verificationId });
  }
  const last = readField(cursor);
  if (last?.type !== types.signature) return undefined;
  return { location: head.location, identifier: head.identifier, caveats, signature: last.bytes };
}

interface MacaroonSection {
  location: string | undefined;
  identifier: Buffer | undefined;
  verificationId: Buffer | undefined;
}

/** Reads the fields up to the next end mark: at most one of each, by ascending type. */
function readSection(cursor: ByteCursor): MacaroonSection | undefined {
  const section: MacaroonSection = { location: undefined, identifier: undefined, verificationId: undefined };
  let before: number = types.end;
  for (;;) {
    const field = readField(cursor);
    if (!field) return undefined;
    if (field.type === types.end) return section;
    if (field.type <= before) return undefined;
    before = field.type;
    if (field.type === types.identifier) {
      section.identifier = field.bytes;
    } else if (field.type === types.verificationId) {
      section.verificationId = field.bytes;
    } else if (field.type === types.location) {
      section.location = textFromBytes(field.bytes);
      if (section.location === undefined) return undefined;
    } else {
      return undefined;
    }
  }
}

const nothing = Buffer.alloc(0);

function readField(cursor: ByteCursor): { type: number; bytes: Buffer } | undefined {
  const type = cursor.bytes[cursor.at];
  if (type === undefined) return undefined;
  cursor.at += 1;
  if (type === types.end) return { type, bytes: nothing };
  const length = readUvarint(cursor);
  const bytes = length === undefined || length > limits.field ? undefined : take(cursor, length);
  return bytes && { type, bytes };
}

// Version 1: packets of a length in four hexadecimal digits, a name, a space, the bytes and a line feed.

function version1(macaroon: DecodedMacaroon): Buffer[] {
  return [
    packet('location', Buffer.from(macaroon.location)),
    packet('identifier', macaroon.identifier),
    ...macaroon.caveats.flatMap((caveat) => [
      packet('cid', caveat.identifier),
      ...(caveat.verificationId ? [packet('vid', caveat.verificationId)] : []),
      ...(caveat.location ? [packet('cl', Buffer.from(caveat.location))] : []),
    ]),
    packet('signature', macaroon.signature),
  ];
}

const packetOverhead = 4 + ' '.length + '\n'.length;

function packet(name: string, bytes: Buffer): Buffer {
  const length = packetOverhead + name.length + bytes.length;
  return Buffer.concat([Buffer.from(`${length.toString(16).padStart(4, '0')}${name} `), bytes, Buffer.from('\n')]);
}

function readVersion1(cursor: ByteCursor): ReadMacaroon | undefined {
  const location = textOf(readPacket(cursor, 'location'));
  const identifier = readPacket(cursor, 'identifier');
  if (location === undefined || !identifier) return undefined;
  const caveats: ReadMacaroon['caveats'] = [];
  for (;;) {
    const cid = readPacket(cursor, 'cid');
    if (!cid) break;
    if (caveats.length === limits.caveats) return undefined;
    const vid = readPacket(cursor, 'vid');
    const cl = readPacket(cursor, 'cl');
    const caveatLocation = textOf(cl);
    if (cl && caveatLocation === undefined) return undefined;
    caveats.push({ identifier: cid, verificationId: vid, location: caveatLocation });
  }
  const last = readPacket(cursor, 'signature');
  return last && { location, identifier, caveats, signature: last };
}

function textOf(bytes: Buffer | undefined): string | undefined {
  return bytes && textFromBytes(bytes);
}

/** Reads the bytes of the next packet; undefined, with the cursor unchanged, if it is malformed or has another name. */
function readPacket(cursor: ByteCursor, name: string): Buffer | undefined {
  const { bytes, at } = cursor;
  const digits = bytes.toString('latin1', at, at + 4);
  if (!/^[0-9a-f]{4}$/.test(digits)) return undefined;
  const start = at + 4 + name.length + 1;
  const last = at + Number.parseInt(digits, 16) - 1;
  if (last < start || last >= bytes.length || last - start > limits.field) return undefined;
  if (bytes.toString('latin1', at + 4, start) !== `${name} ` || bytes[last] !== 0x0a) return undefined;
  cursor.at = last + 1;
  return bytes.subarray(start, last);
}

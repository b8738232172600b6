// Encodes and decodes the two OpenPGP packets in assertions: RSA public keys and RSA signatures (RFC 4880, version 4).
import { createDigest, createPublicKey, verifyFor, type KeyObject } from '#domain/cryptography.ts';
import { BoundedMap } from '#domain/bounded-map.ts';
import { Refusal } from '#domain/refusal.ts';

/** snapd gives every key the creation time 2016-01-01T00:00:00Z, so that the id depends only on the key. */
const keyCreationTime = 0x5685c180;
const formatVersion = 1;
const publicKeyTag = 6;
const signatureTag = 2;
const rsa = 1;
const sha512 = 10;
const hashNames: Readonly<Record<number, 'sha1' | 'sha224' | 'sha256' | 'sha384' | 'sha512'>> = {
  2: 'sha1',
  8: 'sha256',
  9: 'sha384',
  10: 'sha512',
  11: 'sha224',
};
const lineLength = 76;
const keyBits = { least: 2048, most: 16384 };

/** A signature with its subpackets in order. The signed bytes are the content followed by `hashedTail`. */
export interface Signature {
  readonly type: number;
  readonly hash: number;
  readonly createdAt: Date;
  readonly hashed: readonly Subpacket[];
  readonly unhashed: readonly Subpacket[];
  /** The first two bytes of the digest. */
  readonly tag: Buffer;
  /** The bit count written before the number. */
  readonly bits: number;
  readonly number: Buffer;
  /** Bytes hashed after the content. */
  readonly hashedTail: Buffer;
}

interface Subpacket {
  /** The highest bit is set if the subpacket is critical. */
  readonly type: number;
  readonly data: Buffer;
}

const creationTime = 2;
const issuer = 16;
const issuerFingerprint = 33;

// ── Public keys ──────────────────────────────────────────────────────────────────────────────────────────────────

/** Encodes a public key as the body of an account-key. */
export const encodePublicKey = (key: KeyObject): string => armoured(packet(publicKeyTag, publicKeyBody(key)));

/** Decodes a public key. Refuses any encoding other than snapd's. */
export function decodePublicKey(text: string): KeyObject {
  const cached = readLately.get(text);
  if (cached !== undefined) return cached;
  const key = readPublicKey(text);
  readLately.set(text, key);
  return key;
}

/**
 * A few keys sign most assertions: with this cache, inspecting 2,000 snaps with their assertions takes 13 s of processor time instead of
 * 18 s.
 */
const readLately = new BoundedMap<string, KeyObject>(32);

function readPublicKey(text: string): KeyObject {
  const { tag, body } = readPacket(text, 'public key');
  if (tag !== publicKeyTag)
    throw no('public key', `it holds an OpenPGP packet of kind ${tag} instead of ${publicKeyTag}`);
  const reader = new ByteReader(body, 'public key');
  const version = reader.byte();
  if (version !== 4) throw no('public key', `its OpenPGP version is ${version} instead of 4`);
  reader.take(4);
  const algorithm = reader.byte();
  if (algorithm !== rsa) throw no('public key', `its algorithm is ${algorithm}; only RSA (1) is known`);
  const [n, e] = [reader.integer().number, reader.integer().number];
  reader.end();
  if (n.length * 8 < keyBits.least || n.length * 8 > keyBits.most) {
    throw no('public key', `it has ${n.length * 8} bits; a key has ${keyBits.least} to ${keyBits.most}`);
  }
  if (e.length > 3 || ((e.at(-1) ?? 0) & 1) === 0)
    throw no('public key', 'its exponent is not an odd number of at most 3 bytes');
  const key = createPublicKey({
    key: { kty: 'RSA', n: n.toString('base64url'), e: e.toString('base64url') },
    format: 'jwk',
  });
  if (encodePublicKey(key) !== text) throw no('public key', 'it is not written as snapd writes it');
  return key;
}

/** Returns the id of a key: the SHA3-384 of the encoded key, in base64url. Assertions refer to keys by this id. */
export const keyId = (key: KeyObject): string =>
  createDigest('key id')
    .update(Buffer.from([formatVersion]))
    .update(packet(publicKeyTag, publicKeyBody(key)))
    .digest('base64url');

/** Returns the OpenPGP v4 fingerprint, as gpg shows it for the same key. */
export function fingerprint(key: KeyObject): string {
  const body = publicKeyBody(key);
  return createDigest('OpenPGP fingerprint')
    .update(Buffer.from([0x99]))
    .update(uint16(body.length))
    .update(body)
    .digest('hex')
    .toUpperCase();
}

function publicKeyBody(key: KeyObject): Buffer {
  if (key.asymmetricKeyType !== 'rsa')
    throw new Error(`cannot encode a key of type ${String(key.asymmetricKeyType)}; only RSA is known`);
  const { n, e } = key.export({ format: 'jwk' });
  if (n === undefined || e === undefined) throw new Error('cannot read the numbers of an RSA key');
  return Buffer.concat([Buffer.from([4]), uint32(keyCreationTime), Buffer.from([rsa]), integer(n), integer(e)]);
}

/** Encodes a multi-precision integer: its exact bit count and its bytes without leading zeros. */
function integer(base64url: string): Buffer {
  const bytes = Buffer.from(base64url, 'base64url');
  const start = bytes.findIndex((byte) => byte !== 0);
  const stripped = bytes.subarray(start < 0 ? bytes.length : start);
  return Buffer.concat([uint16(bitLength(stripped)), stripped]);
}

// ── Signatures ───────────────────────────────────────────────────────────────────────────────────────────────────

/** Returns the bytes to sign (RSASSA-PKCS1-v1_5 with SHA-512) for this content and signing time. */
export const signedBytes = (content: string, signedAt: Date): Buffer =>
  Buffer.concat([Buffer.from(content), hashedTail(hashedPart(signedAt))]);

/** Returns the signature text. `number` is the RSA signature of `signedBytes`. */
export function encodeSignature(content: string, signedAt: Date, number: Uint8Array): string {
  const digest = createDigest('OpenPGP sha512').update(signedBytes(content, signedAt)).digest();
  const body = Buffer.concat([
    hashedPart(signedAt),
    uint16(0), // no unhashed subpackets
    digest.subarray(0, 2),
    uint16(number.length * 8), // as snapd writes it: leading zero bytes stay and are counted
    number,
  ]);
  return armoured(packet(signatureTag, body));
}

/** Returns the text of a signature that another program made as an OpenPGP packet. */
export function encodeSignaturePacket(bytes: Buffer): string {
  const { tag, body } = readPacketBytes(bytes, 'signature');
  return armoured(packet(tag, body));
}

/**
 * Decodes a signature. Accepts everything that snapd reads: any type and time, several digests, unknown subpackets that are not critical,
 * broken lines. `deviation` checks whether it is written as snapd writes it.
 */
export function decodeSignature(text: string): Signature {
  const { tag: kind, body } = readPacket(text, 'signature');
  if (kind !== signatureTag)
    throw no('signature', `it holds an OpenPGP packet of kind ${kind} instead of ${signatureTag}`);
  const reader = new ByteReader(body, 'signature');
  const version = reader.byte();
  if (version !== 4) throw no('signature', `its OpenPGP version is ${version} instead of 4`);
  const [type, algorithm, hash] = [reader.byte(), reader.byte(), reader.byte()];
  if (algorithm !== rsa) throw no('signature', `its algorithm is ${algorithm}; only RSA (1) is known`);
  if (hashNames[hash] === undefined) throw no('signature', `its digest (${hash}) is not known`);
  const hashed = readSubpackets(reader.take(reader.uint16()));
  const tail = hashedTail(body.subarray(0, reader.at));
  const unhashed = readSubpackets(reader.take(reader.uint16()));
  const tag = reader.take(2);
  const { bits, number } = reader.integer();
  reader.end();
  const created = hashed.find((subpacket) => (subpacket.type & 0x7f) === creationTime)?.data;
  if (created?.length !== 4) throw no('signature', 'it does not say when it was made');
  const createdAt = new Date(created.readUInt32BE() * 1000);
  return { type, hash, createdAt, hashed, unhashed, tag, bits, number, hashedTail: tail };
}

/**
 * Describes how a signature's text differs from the form that snapd writes; undefined if it does not. The issuer and its fingerprint are
 * allowed: gpg adds them when it holds the key, as it does for Canonical's root.
 */
export function deviation(text: string, signature: Signature): string | undefined {
  const { type, hash, createdAt, hashed, unhashed, tag, bits, number } = signature;
  if (type !== 0) return `it is of kind ${type} instead of 0, a signature of a document`;
  if (hash !== sha512) return `its digest is ${String(hashNames[hash])} instead of sha512`;
  const areas: [readonly Subpacket[], number[]][] = [
    [hashed, [creationTime, issuer, issuerFingerprint]],
    [unhashed, [issuer, issuerFingerprint]],
  ];
  for (const [list, allowed] of areas) {
    const types = list.map((subpacket) => subpacket.type);
    const strange = types.find(
      (subpacket, index) => !allowed.includes(subpacket) || types.indexOf(subpacket) !== index,
    );
    if (strange !== undefined) return `it holds the subpacket ${strange & 0x7f}, which snapd does not write there`;
  }
  const byGpg = hashed.length + unhashed.length > 1;
  // snapd counts every bit of every byte; gpg counts from the first bit that is set.
  if (bits !== number.length * 8 && !(byGpg && bits === bitLength(number))) return 'its number has an odd bit count';
  const head = [4, type, rsa, hash];
  const body = Buffer.concat([Buffer.from(head), area(hashed), area(unhashed), tag, uint16(bits), number]);
  if (createdAt.getTime() < 0 || armoured(packet(signatureTag, body)) !== text)
    return 'it is not written as snapd writes it';
  return undefined;
}

export type SignatureVerdict = 'valid' | 'changed' | 'another key';

/** Verifies a signature of this content. If it is invalid, tells a changed content from another key. */
export function verifySignature(key: KeyObject, content: string, signature: Signature): SignatureVerdict {
  const size = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
  const { number, hash, tag } = signature;
  const hashName = hashNames[hash];
  if (hashName === undefined) throw new Error(`cannot judge a signature with the digest ${hash}`);
  const hashed = Buffer.concat([Buffer.from(content), signature.hashedTail]);
  if (!createDigest(`OpenPGP ${hashName}`).update(hashed).digest().subarray(0, 2).equals(tag)) return 'changed';
  if (key.asymmetricKeyType !== 'rsa' || number.length > size) return 'another key';
  const padded = Buffer.concat([Buffer.alloc(size - number.length), number]);
  return verifyFor(`OpenPGP ${hashName}`, hashed, key, padded) ? 'valid' : 'another key';
}

/** Returns the hashed part of a signature: version 4, document signature, RSA, SHA-512, and creation time. */
function hashedPart(signedAt: Date): Buffer {
  const seconds = Math.floor(signedAt.getTime() / 1000);
  if (!(seconds >= 0 && seconds <= 0xffffffff))
    throw new Error('cannot sign at a time outside of the years 1970 to 2106');
  return Buffer.concat([Buffer.from([4, 0, rsa, sha512]), area([{ type: creationTime, data: uint32(seconds) }])]);
}

/** Returns the bytes that are hashed after the content: the hashed part of the packet and its length (RFC 4880 section 5.2.4). */
const hashedTail = (part: Buffer): Buffer => Buffer.concat([part, Buffer.from([4, 0xff]), uint32(part.length)]);

function area(subpackets: readonly Subpacket[]): Buffer {
  // A one-byte length is sufficient for the subpackets written here. Longer ones are read but never written.
  const all = Buffer.concat(
    subpackets.flatMap(({ type, data }) => [Buffer.from([(data.length + 1) & 0xff, type]), data]),
  );
  return Buffer.concat([uint16(all.length), all]);
}

function readSubpackets(bytes: Buffer): Subpacket[] {
  const reader = new ByteReader(bytes, 'signature');
  const subpackets: Subpacket[] = [];
  while (reader.at < bytes.length) {
    const content = reader.take(reader.subpacketLength());
    const type = content[0];
    if (type === undefined) throw no('signature', 'it holds an empty subpacket');
    // The subpackets that snapd's library understands. RFC 4880 requires rejecting critical ones that are not understood.
    const understood = [creationTime, 3, 9, 11, issuer, 21, 22, 25, 27, 29, 30, 32];
    if (type >= 0x80 && !understood.includes(type & 0x7f))
      throw no('signature', `it holds the critical subpacket ${type & 0x7f}, which is not known`);
    subpackets.push({ type, data: content.subarray(1) });
  }
  return subpackets;
}

// ── Packets and their text ───────────────────────────────────────────────────────────────────────────────────────

function packet(tag: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0xc0 | tag]), packetLength(body.length), body]);
}

function packetLength(length: number): Buffer {
  if (length < 192) return Buffer.from([length]);
  if (length < 8384) return Buffer.from([192 + ((length - 192) >> 8), (length - 192) & 0xff]);
  return Buffer.concat([Buffer.from([0xff]), uint32(length)]);
}

/** Encodes the version and the packet as base64 in lines of 76 characters, without a final newline. */
function armoured(bytes: Buffer): string {
  const text = Buffer.concat([Buffer.from([formatVersion]), bytes]).toString('base64');
  const lines: string[] = [];
  for (let at = 0; at < text.length; at += lineLength) lines.push(text.slice(at, at + lineLength));
  return lines.join('\n');
}

function readPacket(text: string, label: string): { tag: number; body: Buffer } {
  const flat = text.replaceAll(/[\r\n]/g, '');
  const bytes = Buffer.from(flat, 'base64');
  // Node's decoder skips invalid characters, so compare with the encoded result to validate the base64.
  if (flat === '' || bytes.toString('base64') !== flat) throw no(label, 'it is not base64');
  if (bytes[0] !== formatVersion)
    throw no(label, `its format version is ${String(bytes[0])} instead of ${formatVersion}`);
  return readPacketBytes(bytes.subarray(1), label);
}

function readPacketBytes(bytes: Buffer, label: string): { tag: number; body: Buffer } {
  const reader = new ByteReader(bytes, label);
  const header = reader.byte();
  if ((header & 0x80) === 0) throw no(label, 'it is not an OpenPGP packet');
  const isNew = (header & 0x40) !== 0;
  const tag = isNew ? header & 0x3f : (header >> 2) & 0x0f;
  const body = reader.take(isNew ? reader.packetLength() : reader.oldPacketLength(header & 3));
  reader.end();
  return { tag, body };
}

/** Reads OpenPGP numbers and lengths. Refuses truncated data. */
export class ByteReader {
  readonly bytes: Buffer;
  readonly label: string;
  at = 0;

  constructor(bytes: Buffer, label: string) {
    this.bytes = bytes;
    this.label = label;
  }

  take(count: number): Buffer {
    if (this.at + count > this.bytes.length) throw no(this.label, 'it ends too early');
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  byte = (): number => this.take(1).readUInt8();
  uint16 = (): number => this.take(2).readUInt16BE();
  uint32 = (): number => this.take(4).readUInt32BE();

  integer(): { bits: number; number: Buffer } {
    const bits = this.uint16();
    return { bits, number: this.take(Math.ceil(bits / 8)) };
  }

  packetLength(): number {
    const first = this.byte();
    if (first < 192) return first;
    if (first < 224) return ((first - 192) << 8) + this.byte() + 192;
    if (first < 255) throw no(this.label, 'its packet comes in parts');
    return this.uint32();
  }

  oldPacketLength(kind: number): number {
    if (kind === 0) return this.byte();
    if (kind === 1) return this.uint16();
    if (kind === 2) return this.uint32();
    throw no(this.label, 'its packet has no length');
  }

  subpacketLength(): number {
    const first = this.byte();
    if (first < 192) return first;
    if (first < 255) return ((first - 192) << 8) + this.byte() + 192;
    return this.uint32();
  }

  end(): void {
    if (this.at !== this.bytes.length) throw no(this.label, 'other data follow it');
  }
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function bitLength(bytes: Buffer): number {
  const start = bytes.findIndex((byte) => byte !== 0);
  return start < 0 ? 0 : (bytes.length - start) * 8 - Math.clz32(bytes[start] as number) + 24;
}

const no = (label: string, reason: string): Refusal =>
  new Refusal('api-error', `The ${label} cannot be taken: ${reason}.`);

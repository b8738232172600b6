// The payload of a third-party caveat of the bakery: the caveat's root key and its condition, in a NaCl box that only
// the third party can open. Versions 1 to 3; in the first two these bytes are the caveat's identifier, in the third
// they are sent beside it.
import { randomBytes } from '#domain/cryptography.ts';
import nacl from 'tweetnacl';
import {
  bytesFromBase64,
  bytesFromText,
  isJsonObject,
  member,
  readUvarint,
  take,
  textFromBytes,
  uvarint,
  valueFromJson,
  type ByteCursor,
} from './encoding.ts';
import { keyLength, keyText, type KeyPair } from './keys.ts';
import { limits } from './macaroon.ts';
import { namespaceText, readNamespace, standardNamespace, type BakeryNamespace } from './namespace.ts';

export type BakeryVersion = 1 | 2 | 3;

export interface CaveatPayload {
  version: BakeryVersion;
  condition: string;
  rootKey: Buffer;
  /**
   * The public key of the party that added the caveat. Any client can encrypt to a discharger; this key identifies the
   * sender.
   */
  firstPartyKey: Buffer;
  /** The namespace of the macaroon with the caveat; versions 1 and 2 always use the standard one. */
  namespace: BakeryNamespace;
}

export interface PayloadToEncode {
  version: BakeryVersion;
  condition: string;
  rootKey: Buffer;
  thirdPartyKey: Buffer;
  firstParty: KeyPair;
  namespace: BakeryNamespace;
  /** 24 bytes never used before between these two keys. */
  nonce?: Buffer;
}

export function encodePayload(payload: PayloadToEncode): Buffer {
  const nonce = payload.nonce ?? randomBytes(nonceLength);
  const { version, condition, rootKey, thirdPartyKey, firstParty } = payload;
  const words = bytesFromText(condition);
  if (!words?.length || rootKey.length === 0) {
    throw new Error('cannot encode a caveat without a condition and a root key');
  }
  const seal = (secret: Buffer): Buffer => Buffer.from(nacl.box(secret, nonce, thirdPartyKey, firstParty.privateKey));
  if (version === 1) {
    const secret = JSON.stringify({ RootKey: rootKey.toString('base64'), Condition: condition });
    const text = JSON.stringify({
      ThirdPartyPublicKey: keyText(thirdPartyKey),
      FirstPartyPublicKey: keyText(firstParty.publicKey),
      Nonce: nonce.toString('base64'),
      Id: seal(Buffer.from(secret)).toString('base64'),
    });
    return Buffer.from(Buffer.from(text).toString('base64'));
  }
  const namespace = version === 3 ? Buffer.from(namespaceText(payload.namespace)) : undefined;
  const secret = Buffer.concat([
    Buffer.from([version]),
    uvarint(rootKey.length),
    rootKey,
    ...(namespace ? [uvarint(namespace.length), namespace] : []),
    words,
  ]);
  return Buffer.concat([
    Buffer.from([version]),
    thirdPartyKey.subarray(0, keyPrefixLength),
    firstParty.publicKey,
    nonce,
    seal(secret),
  ]);
}

export type DecodedPayload =
  | { decoded: true; payload: CaveatPayload }
  | { decoded: false; reason: 'malformed' | 'for another key' | 'payload missing' };

/** Reads a payload of any version that was encrypted to this key pair. */
export function decodePayload(bytes: Buffer, thirdParty: KeyPair): DecodedPayload {
  if (bytes.length > limits.field) return undecoded('malformed');
  // Version 1 is the base64 of a JSON object, and `{"` encodes as `ey`.
  if (bytes[0] === 'e'.charCodeAt(0)) return decodeVersion1(bytes, thirdParty);
  if (bytes[0] === 3 && bytes.length < shortestVersion3) return undecoded('payload missing');
  if (bytes[0] === 2 || bytes[0] === 3) return decodeVersion2Or3(bytes, bytes[0], thirdParty);
  return undecoded('malformed');
}

const nonceLength = nacl.box.nonceLength;
const keyPrefixLength = 4;
const shortestPayload = 1 + keyPrefixLength + keyLength + nonceLength + nacl.box.overheadLength;
/** Shorter bytes that start like version 3 are only an identifier: its payload was not sent. */
const shortestVersion3 = shortestPayload + 1;

function decodeVersion1(bytes: Buffer, thirdParty: KeyPair): DecodedPayload {
  const wrapper = jsonIn(bytesFromBase64(bytes.toString('latin1')));
  const thirdPartyKey = base64In(wrapper, 'ThirdPartyPublicKey');
  const firstPartyKey = base64In(wrapper, 'FirstPartyPublicKey');
  const nonce = base64In(wrapper, 'Nonce');
  const box = base64In(wrapper, 'Id');
  if (!thirdPartyKey || firstPartyKey?.length !== keyLength || nonce?.length !== nonceLength || !box) {
    return undecoded('malformed');
  }
  if (!thirdPartyKey.equals(thirdParty.publicKey)) return undecoded('for another key');
  const secret = jsonIn(unsealed(box, nonce, firstPartyKey, thirdParty));
  const rootKey = base64In(secret, 'RootKey');
  const condition = isJsonObject(secret) ? member(secret, 'Condition') : undefined;
  if (!rootKey?.length || typeof condition !== 'string' || !bytesFromText(condition)?.length) {
    return undecoded('malformed');
  }
  return {
    decoded: true,
    payload: { version: 1, condition, rootKey, firstPartyKey, namespace: standardNamespace },
  };
}

function decodeVersion2Or3(bytes: Buffer, version: 2 | 3, thirdParty: KeyPair): DecodedPayload {
  if (bytes.length < shortestPayload) return undecoded('malformed');
  const cursor: ByteCursor = { bytes, at: 1 };
  const prefix = take(cursor, keyPrefixLength);
  const firstPartyKey = take(cursor, keyLength);
  const nonce = take(cursor, nonceLength);
  if (!prefix || !firstPartyKey || !nonce) return undecoded('malformed');
  if (!prefix.equals(thirdParty.publicKey.subarray(0, keyPrefixLength))) return undecoded('for another key');
  const secret = unsealed(bytes.subarray(cursor.at), nonce, firstPartyKey, thirdParty);
  const read = secret?.[0] === version ? decodeSecret(secret, version) : undefined;
  return read ? { decoded: true, payload: { version, firstPartyKey, ...read } } : undecoded('malformed');
}

function decodeSecret(
  secret: Buffer,
  version: 2 | 3,
): Pick<CaveatPayload, 'condition' | 'rootKey' | 'namespace'> | undefined {
  const cursor: ByteCursor = { bytes: secret, at: 1 };
  const rootKey = takeCounted(cursor);
  const namespace = version === 3 ? namespaceIn(takeCounted(cursor)) : standardNamespace;
  const condition = textFromBytes(secret.subarray(cursor.at));
  return rootKey?.length && namespace && condition ? { condition, rootKey, namespace } : undefined;
}

function namespaceIn(bytes: Buffer | undefined): BakeryNamespace | undefined {
  const text = bytes && textFromBytes(bytes);
  return text === undefined ? undefined : readNamespace(text);
}

function takeCounted(cursor: ByteCursor): Buffer | undefined {
  const length = readUvarint(cursor);
  return length === undefined ? undefined : take(cursor, length);
}

function unsealed(box: Buffer, nonce: Buffer, firstPartyKey: Buffer, thirdParty: KeyPair): Buffer | undefined {
  const secret = nacl.box.open(box, nonce, firstPartyKey, thirdParty.privateKey);
  return secret ? Buffer.from(secret) : undefined;
}

function jsonIn(bytes: Buffer | undefined): unknown {
  const text = bytes && textFromBytes(bytes);
  return text === undefined ? undefined : valueFromJson(text);
}

function base64In(object: unknown, name: string): Buffer | undefined {
  const text = isJsonObject(object) ? member(object, name) : undefined;
  return typeof text === 'string' ? bytesFromBase64(text) : undefined;
}

function undecoded(reason: 'malformed' | 'for another key' | 'payload missing'): DecodedPayload {
  return { decoded: false, reason };
}

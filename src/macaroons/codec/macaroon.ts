// Mints, attenuates and verifies macaroons with chains of HMACs, as libmacaroons does. The meaning of conditions is not
// defined here; a verifier passes `check`.
import { createMac, randomBytes, timingSafeEqual } from '#domain/cryptography.ts';
import nacl from 'tweetnacl';
import { bytesFromText, textFromBytes } from './encoding.ts';

/** A first-party caveat has no verification id. A third-party caveat has one, and a location, which may be empty. */
export interface Caveat {
  identifier: Buffer;
  verificationId?: Buffer;
  location?: string;
}

/** The signature covers the identifier and the caveats' identifiers and verification ids; it covers no location. */
export interface DecodedMacaroon {
  location: string;
  identifier: Buffer;
  caveats: Caveat[];
  signature: Buffer;
}

/** Limits of reading and of creating. `depth` counts discharges of discharges: the first is 1. */
export const limits = { text: 64 * 1024, field: 32 * 1024, caveats: 64, discharges: 8, depth: 2 } as const;

export function mint(rootKey: Buffer, identifier: Buffer | string, location: string): DecodedMacaroon {
  if (rootKey.length === 0) throw new Error('cannot mint a macaroon from an empty root key');
  const id = bytesToSign(identifier);
  return made({ location, identifier: id, caveats: [], signature: hmac(derivedKey(rootKey), id) });
}

export function withFirstPartyCaveat(macaroon: DecodedMacaroon, text: string): DecodedMacaroon {
  const identifier = bytesToSign(text);
  return made({
    ...macaroon,
    caveats: [...macaroon.caveats, { identifier }],
    signature: hmac(macaroon.signature, identifier),
  });
}

export interface ThirdPartyCaveat {
  caveatRootKey: Buffer;
  identifier: Buffer | string;
  location: string;
  /** 24 bytes never used before under the same signature. */
  nonce?: Buffer;
}

export function withThirdPartyCaveat(macaroon: DecodedMacaroon, caveat: ThirdPartyCaveat): DecodedMacaroon {
  if (caveat.caveatRootKey.length === 0) throw new Error('cannot add a caveat with an empty root key');
  const nonce = caveat.nonce ?? randomBytes(nonceLength);
  const identifier = bytesToSign(caveat.identifier);
  const sealed = nacl.secretbox(derivedKey(caveat.caveatRootKey), nonce, macaroon.signature);
  const verificationId = Buffer.concat([nonce, sealed]);
  return made({
    ...macaroon,
    caveats: [...macaroon.caveats, { identifier, verificationId, location: caveat.location }],
    signature: hmacOfTwo(macaroon.signature, verificationId, identifier),
  });
}

/** Binds a discharge to its root for sending; it is worthless with any other root. */
export function bindForRequest(root: DecodedMacaroon, discharge: DecodedMacaroon): DecodedMacaroon {
  return { ...discharge, signature: hmacOfTwo(zeroKey, root.signature, discharge.signature) };
}

/** The origin of a condition: the token itself, or the discharge of the caveat with this identifier. */
export type Origin = 'primary' | Buffer;

export type Met = { met: true } | { met: false; reason: string };

export interface VerifyRequest {
  macaroon: DecodedMacaroon;
  rootKey: Buffer;
  /** Bound to the macaroon, in any order. */
  discharges?: readonly DecodedMacaroon[];
  /** Pure and synchronous. Any result except `{ met: true }`, and any exception, counts as not met. */
  check: (condition: string, from: Origin) => Met;
}

export type Verification =
  | { verified: true; conditions: { condition: string; from: Origin }[] }
  | {
      verified: false;
      /** A sentence that contains no text of the token. */
      reason: string;
      failed: 'limits' | 'signature' | 'discharges' | 'condition';
      /** The origin of the unmet condition, if a condition failed. */
      from?: Origin;
    };

/**
 * Verifies a macaroon and its discharges. All signatures are verified before `check` gets the first condition, so it
 * never sees text of an attacker. The conditions of the macaroon are checked before those of its discharges. The result
 * names the first condition that fails: if that one is in a discharge, the macaroon meets all of its own.
 */
export function verify({ macaroon, rootKey, discharges = [], check }: VerifyRequest): Verification {
  if (discharges.length > limits.discharges) return failure('limits', 'There are too many discharges.');
  if (!withinLimits(macaroon) || !discharges.every(withinLimits)) {
    return failure('limits', 'A macaroon is larger than the limits allow.');
  }
  if (rootKey.length === 0) return failure('signature', 'There is no root key.');
  const primary = chain(macaroon, derivedKey(rootKey));
  if (!sameSignature(primary.signature, macaroon.signature)) {
    return failure('signature', 'The signature does not match.');
  }

  const proven: { macaroon: DecodedMacaroon; from: Origin }[] = [{ macaroon, from: 'primary' }];
  const unused = new Map(discharges.map((discharge) => [discharge.identifier.toString('latin1'), discharge]));
  if (unused.size < discharges.length) return failure('discharges', 'Two discharges answer the same caveat.');
  let open = primary.thirdParty;
  for (let depth = 1; open.length > 0; depth += 1) {
    if (depth > limits.depth) return failure('discharges', 'The discharges are nested too deeply.');
    const deeper: SealedCaveat[] = [];
    for (const sealed of open) {
      const name = sealed.identifier.toString('latin1');
      const discharge = unused.get(name);
      if (!discharge) return failure('discharges', 'A third-party caveat has no discharge of its own.');
      unused.delete(name);
      const key = openedKey(sealed);
      if (!key) return failure('discharges', 'A third-party caveat cannot be opened.');
      const links = chain(discharge, key);
      if (!sameSignature(hmacOfTwo(zeroKey, macaroon.signature, links.signature), discharge.signature)) {
        return failure('discharges', 'The signature of a discharge does not match.');
      }
      proven.push({ macaroon: discharge, from: sealed.identifier });
      deeper.push(...links.thirdParty);
    }
    open = deeper;
  }
  if (unused.size > 0) return failure('discharges', 'A discharge answers no caveat.');

  const conditions: { condition: string; from: Origin }[] = [];
  for (const { macaroon: holder, from } of proven) {
    for (const caveat of holder.caveats) {
      if (caveat.verificationId !== undefined) continue;
      const condition = textFromBytes(caveat.identifier);
      if (condition === undefined) return { ...failure('condition', 'A condition is not UTF-8 text.'), from };
      const reason = unmetReason(check, condition, from);
      if (reason !== undefined) return { ...failure('condition', reason), from };
      conditions.push({ condition, from });
    }
  }
  return { verified: true, conditions };
}

/**
 * Whether the signature of a macaroon without third-party caveats is valid: the check of every request. Conditions are
 * not checked. A macaroon with third-party caveats never matches.
 */
export function signatureMatches(macaroon: DecodedMacaroon, rootKey: Buffer): boolean {
  if (rootKey.length === 0 || macaroon.caveats.length > limits.caveats) return false;
  let signature = hmacText(derivedKey(rootKey).toString('latin1'), macaroon.identifier);
  for (const caveat of macaroon.caveats) {
    if (caveat.verificationId !== undefined || caveat.location !== undefined) return false;
    signature = hmacText(signature, caveat.identifier);
  }
  return sameSignature(Buffer.from(signature, 'latin1'), macaroon.signature);
}

/** The conditions of a macaroon; undefined if it has a third-party caveat, or a condition that is not text. */
export function conditionsOf(macaroon: DecodedMacaroon): string[] | undefined {
  const conditions: string[] = [];
  for (const { identifier, verificationId } of macaroon.caveats) {
    const condition = verificationId === undefined ? textFromBytes(identifier) : undefined;
    if (condition === undefined) return undefined;
    conditions.push(condition);
  }
  return conditions;
}

/** The fields that a reader has parsed. An empty location counts as absent. */
export interface ReadMacaroon {
  location: string | undefined;
  identifier: Buffer;
  caveats: { identifier: Buffer; verificationId: Buffer | undefined; location: string | undefined }[];
  signature: Buffer;
}

/** Makes a macaroon of parsed fields; undefined if it exceeds a limit or a first-party caveat has a location. */
export function macaroonFrom(read: ReadMacaroon): DecodedMacaroon | undefined {
  const caveats: Caveat[] = [];
  for (const { identifier, verificationId, location } of read.caveats) {
    if (verificationId !== undefined) caveats.push({ identifier, verificationId, location: location ?? '' });
    else if (!location) caveats.push({ identifier });
    else return undefined;
  }
  const { identifier, signature } = read;
  const macaroon = { location: read.location ?? '', identifier, caveats, signature };
  return withinLimits(macaroon) ? macaroon : undefined;
}

const signatureLength = 32;
const nonceLength = nacl.secretbox.nonceLength;
const verificationIdLength = nonceLength + nacl.secretbox.overheadLength + signatureLength;
const zeroKey = Buffer.alloc(signatureLength);

/** A third-party caveat with the signature that its key is sealed under. */
interface SealedCaveat {
  identifier: Buffer;
  verificationId: Buffer;
  under: Buffer;
}

function chain(macaroon: DecodedMacaroon, key: Buffer): { signature: Buffer; thirdParty: SealedCaveat[] } {
  let signature = hmac(key, macaroon.identifier);
  const thirdParty: SealedCaveat[] = [];
  for (const { identifier, verificationId } of macaroon.caveats) {
    if (verificationId === undefined) {
      signature = hmac(signature, identifier);
    } else {
      thirdParty.push({ identifier, verificationId, under: signature });
      signature = hmacOfTwo(signature, verificationId, identifier);
    }
  }
  return { signature, thirdParty };
}

function openedKey({ verificationId, under }: SealedCaveat): Buffer | undefined {
  if (verificationId.length !== verificationIdLength) return undefined;
  const nonce = verificationId.subarray(0, nonceLength);
  const key = nacl.secretbox.open(verificationId.subarray(nonceLength), nonce, under);
  return key ? Buffer.from(key) : undefined;
}

function unmetReason(check: VerifyRequest['check'], condition: string, from: Origin): string | undefined {
  let answer: unknown;
  try {
    answer = check(condition, from);
  } catch {
    // The checker has a defect, but the token must not be accepted, and the text of the error must not be disclosed.
    return 'A condition could not be checked.';
  }
  if (typeof answer !== 'object' || answer === null || !('met' in answer)) return 'A condition is not met.';
  if (answer.met === true) return undefined;
  return 'reason' in answer && typeof answer.reason === 'string' ? answer.reason : 'A condition is not met.';
}

function withinLimits({ location, identifier, caveats, signature }: DecodedMacaroon): boolean {
  const fits = (bytes: Buffer): boolean => bytes.length > 0 && bytes.length <= limits.field;
  const locationFits = (text: string): boolean =>
    text.length <= limits.field && Buffer.byteLength(text) <= limits.field;
  return (
    signature.length === signatureLength &&
    caveats.length <= limits.caveats &&
    fits(identifier) &&
    locationFits(location) &&
    caveats.every(
      (caveat) =>
        fits(caveat.identifier) &&
        (caveat.verificationId === undefined || fits(caveat.verificationId)) &&
        (caveat.location === undefined || locationFits(caveat.location)),
    )
  );
}

/** A caller that makes a macaroon beyond the limits has a defect: it could not be read again. */
function made(macaroon: DecodedMacaroon): DecodedMacaroon {
  if (!withinLimits(macaroon)) throw new Error('cannot make a macaroon beyond the limits, or with an empty field');
  return macaroon;
}

function bytesToSign(identifier: Buffer | string): Buffer {
  const bytes = typeof identifier === 'string' ? bytesFromText(identifier) : identifier;
  if (!bytes) throw new Error('cannot sign a text that is not well formed');
  return bytes;
}

function failure(failed: 'limits' | 'signature' | 'discharges' | 'condition', reason: string) {
  return { verified: false, reason, failed } as const;
}

function sameSignature(signature: Buffer, other: Buffer): boolean {
  return signature.length === other.length && timingSafeEqual(signature, other);
}

/** Root keys have any length and origin; the chain starts with a key derived from them. */
function derivedKey(rootKey: Buffer): Buffer {
  let derived = derivedKeys.get(rootKey);
  if (derived === undefined) {
    derived = hmac(keyGenerator, rootKey);
    derivedKeys.set(rootKey, derived);
  }
  return derived;
}

/**
 * HMAC keys by root key. A store verifies thousands of tokens with a few root keys, so it derives each HMAC key once.
 * `npm run bench -- tricks` shows the time saved.
 */
const derivedKeys = new WeakMap<Buffer, Buffer>();

const keyGenerator = Buffer.from('macaroons-key-generator');

function hmac(key: Buffer, data: Buffer): Buffer {
  return Buffer.from(hmacText(key.toString('latin1'), data), 'latin1');
}

/** As latin1 text a key has the same bytes, and costs Node 24 1.5 µs, where a Buffer costs 10 µs (`npm run bench -- tricks`). */
function hmacText(key: string, data: Buffer): string {
  return createMac('macaroon', key, latin1).update(data).digest('binary');
}

const latin1 = { encoding: 'latin1' } as const;

function hmacOfTwo(key: Buffer, first: Buffer, other: Buffer): Buffer {
  return hmac(key, Buffer.concat([hmac(key, first), hmac(key, other)]));
}

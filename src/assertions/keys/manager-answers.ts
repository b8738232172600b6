// Requests to a key manager, and its answers. A signature is used only after it was verified.
import { createDigest, createPublicKey, verifyFor, type KeyObject } from '#domain/cryptography.ts';
import { Refusal } from '#domain/refusal.ts';
import {
  decodePublicKey,
  decodeSignature,
  deviation,
  encodePublicKey,
  encodeSignature,
  encodeSignaturePacket,
  signedBytes,
  verifySignature,
} from '../format/openpgp.ts';
import { KeyManagerError } from './manager-program.ts';

/** The ways to sign. snapd knows the first two and prefers the first; ECDSA is an addition (docs/decisions/0022-keys-of-sites-in-devices.md). */
type SigningMechanism = 'RSA-PKCS' | 'OPENPGP' | 'ECDSA';

/** A key in the device. */
export interface ManagedKey {
  readonly name: string;
  readonly publicKey: KeyObject;
}

/** A signature that is asked for. */
export interface ManagedSigning<Signature> extends ManagedKey {
  /** The best first. */
  readonly mechanisms: readonly SigningMechanism[];
  inputFor(mechanism: SigningMechanism): string | Uint8Array;
  /** Reads the signature in the output of the program. Throws if it is not one of this key over the input. */
  read(mechanism: SigningMechanism, output: Buffer): Signature;
}

/** A device that answers, with a signature that must not be used. */
export class InvalidSignature extends KeyManagerError {
  constructor(name: string, reason: string) {
    super(`the signature with the key '${name}' is invalid: ${reason}`);
  }
}

const noMatch = 'it does not match the public key';

/** DER encodings of a DigestInfo, without the digest (RFC 8017 section 9.2, note 1). */
const digestInfoPrefixes = {
  sha256: Buffer.from('3031300d060960864801650304020105000420', 'hex'),
  sha512: Buffer.from('3051300d060960864801650304020305000440', 'hex'),
};

/** The signature of an assertion, as text. */
export const signingOfAssertion = (
  { name, publicKey }: ManagedKey,
  content: string,
  signedAt: Date,
): ManagedSigning<string> => ({
  name,
  publicKey,
  mechanisms: ['RSA-PKCS', 'OPENPGP'],
  inputFor: (mechanism) =>
    mechanism === 'OPENPGP'
      ? content
      : Buffer.concat([
          digestInfoPrefixes.sha512,
          createDigest('OpenPGP sha512').update(signedBytes(content, signedAt)).digest(),
        ]),
  read(mechanism, output) {
    try {
      if (mechanism === 'RSA-PKCS') refuseLength(name, output, Math.ceil(modulusBits(publicKey) / 8));
      const text = mechanism === 'OPENPGP' ? encodeSignaturePacket(output) : encodeSignature(content, signedAt, output);
      const signature = decodeSignature(text);
      // It is used only if snapd would write it so.
      const difference = deviation(text, signature);
      if (difference !== undefined) throw new InvalidSignature(name, difference);
      if (verifySignature(publicKey, content, signature) !== 'valid') throw new InvalidSignature(name, noMatch);
      return text;
    } catch (error) {
      throw error instanceof InvalidSignature ? error : new InvalidSignature(name, 'it is no signature');
    }
  },
});

/** The signatures that are bytes: of a site over a statement, and of the authority of the store over a certificate. */
export type DeviceSignatureUse = 'transfer p384' | 'certificate';

/** The signature of bytes: of a certificate PKCS #1 v1.5 with SHA-256, of a statement r and s of ECDSA with SHA-384. */
export function signingOfBytes(
  { name, publicKey }: ManagedKey,
  bytes: Uint8Array,
  use: DeviceSignatureUse,
): ManagedSigning<Buffer> {
  const isRsa = use === 'certificate';
  return {
    name,
    publicKey,
    mechanisms: [isRsa ? 'RSA-PKCS' : 'ECDSA'],
    inputFor: () =>
      isRsa
        ? Buffer.concat([digestInfoPrefixes.sha256, createDigest('device sha256').update(bytes).digest()])
        : createDigest('device sha384').update(bytes).digest(),
    read(_, output) {
      refuseLength(name, output, isRsa ? Math.ceil(modulusBits(publicKey) / 8) : p384SignatureBytes);
      if (!verifyFor(use, bytes, isRsa ? publicKey : { key: publicKey, dsaEncoding: 'ieee-p1363' }, output))
        throw new InvalidSignature(name, noMatch);
      return output;
    },
  };
}

const p384SignatureBytes = 96;

function refuseLength(name: string, { length }: Buffer, expected: number): void {
  if (length !== expected) throw new InvalidSignature(name, `it has ${String(length)} bytes`);
}

/** A rule for the keys of one purpose: which of them may be used, and which to make. */
interface ManagedKeyRule {
  minRsaBits?: number;
  isP384Allowed: boolean;
  /** The kinds of keys that can sign. */
  kinds: string;
  example: string;
  /** As pkcs11-tool names it. */
  pkcs11Type: string;
}

const maxRsaBits = 16_384;
const rsaOf = (bits: number): string => `RSA with ${String(bits)} to ${String(maxRsaBits)} bits`;
const p384 = 'ECDSA P-384';

const keyRules = {
  // snapd signs with no smaller key (asserts/crypto.go).
  assertion: {
    minRsaBits: 4096,
    isP384Allowed: false,
    kinds: rsaOf(4096),
    example: 'RSA with 4096 bits',
    pkcs11Type: 'rsa:4096',
  },
  transfer: { isP384Allowed: true, kinds: p384, example: p384, pkcs11Type: 'EC:secp384r1' },
  certificate: {
    minRsaBits: 3072,
    isP384Allowed: false,
    kinds: rsaOf(3072),
    example: 'RSA with 3072 bits',
    pkcs11Type: 'rsa:3072',
  },
} satisfies Record<string, ManagedKeyRule>;

export type ManagedKeyPurpose = keyof typeof keyRules;

/** The remedy for a key that is missing or cannot be used. */
export const makeKeyThere = (purpose: ManagedKeyPurpose): string =>
  `Make a key with the tools of the device, ${keyRules[purpose].example}: the store makes none there. With PKCS #11 the command is ` +
  `'pkcs11-tool --login --keypairgen --key-type ${keyRules[purpose].pkcs11Type} --usage-sign --label NAME'.`;

export function readPublicKey(name: string, der: Buffer, purpose: ManagedKeyPurpose): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    throw new KeyManagerError(`its answer for the key '${name}' is no public key in DER`);
  }
  const { minRsaBits, isP384Allowed, kinds }: ManagedKeyRule = keyRules[purpose];
  const { asymmetricKeyType: type, asymmetricKeyDetails: { namedCurve } = {} } = key;
  const bits = modulusBits(key);
  const isUsable =
    type === 'rsa'
      ? minRsaBits !== undefined && bits >= minRsaBits && bits <= maxRsaBits
      : isP384Allowed && type === 'ec' && namedCurve === 'secp384r1';
  if (!isUsable) {
    const kind = type === 'rsa' ? `RSA with ${String(bits)} bits` : [type, namedCurve].join(' ').trim();
    throw new Refusal(
      'api-error',
      `The key '${name}' is ${kind}, and only ${kinds} can sign. ${makeKeyThere(purpose)}`,
    );
  }
  // Refuses an exponent that snapd does not read.
  return type === 'rsa' ? decodePublicKey(encodePublicKey(key)) : key;
}

const modulusBits = (key: KeyObject): number => key.asymmetricKeyDetails?.modulusLength ?? 0;

/** Returns the ways to sign that the manager offers. */
export function readFeatures(output: Buffer): readonly unknown[] {
  const { signing, 'public-keys': publicKeys } = readObject('features', output);
  if (!Array.isArray(publicKeys) || !publicKeys.includes('DER'))
    throw new KeyManagerError('it does not write public keys in DER');
  return Array.isArray(signing) ? signing : [];
}

/** Returns the best of the ways that the manager offers. */
export function chooseMechanism(
  { mechanisms }: Pick<ManagedSigning<unknown>, 'mechanisms'>,
  offered: readonly unknown[],
): SigningMechanism {
  const mechanism = mechanisms.find((each) => offered.includes(each));
  if (mechanism !== undefined) return mechanism;
  throw new KeyManagerError(
    mechanisms.includes('ECDSA')
      ? 'it does not sign with ECDSA, which P-384 keys need; /usr/lib/larder/pkcs11 does'
      : `it does not sign with ${mechanisms.join(' or ')}`,
  );
}

/** Returns the names of keys. Those of sites are in a list of their own: snapd reads each key of `key-names`, and stops at a key that is not RSA. */
export function readKeyNames(output: Buffer, purpose: ManagedKeyPurpose): string[] {
  const answer = readObject('key-names', output);
  const list = purpose === 'transfer' ? 'ecdsa-key-names' : 'key-names';
  const names = answer[list];
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names;
  throw new KeyManagerError(`its answer to 'key-names' has no list '${list}'`);
}

function readObject(command: string, output: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(output.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The same as an answer that is no object.
  }
  throw new KeyManagerError(`its answer to '${command}' is no JSON object`);
}

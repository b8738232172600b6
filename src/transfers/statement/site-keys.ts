// The keys of sites, and their signatures. A key in the records is Ed25519. A key in the device of the key manager is ECDSA P-384: a device
// signs a digest, and Ed25519 needs the whole statement.
import {
  createDigest,
  createPrivateKey,
  createPublicKey,
  signFor,
  verifyFor,
  type KeyObject,
} from '#domain/cryptography.ts';

/** Signs as a site. */
export interface SiteSigner {
  /** `SitePublicKey` in the schemas. */
  readonly publicKey: string;
  sign(bytes: Uint8Array): Buffer | Promise<Buffer>;
}

/** A signing key from its 32-byte seed (RFC 8032). */
export class SigningSeed implements SiteSigner {
  readonly #key: KeyObject;
  /** The 32 bytes of the public key in base64url. */
  readonly publicKey: string;

  constructor(seed: Uint8Array) {
    // An Ed25519 key in PKCS#8 is this prefix followed by the seed (RFC 8410, section 7).
    const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
    this.#key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    this.publicKey = createPublicKey(this.#key).export({ format: 'jwk' }).x!;
  }

  sign(bytes: Uint8Array): Buffer {
    return signFor('transfer', bytes, this.#key);
  }
}

/** Returns the id of a public key: the SHA-256 of its bytes, in hexadecimal. */
export const keyIdOf = (publicKey: string): string =>
  createDigest('key fingerprint').update(Buffer.from(publicKey, 'base64url')).digest('hex');

/** An ECDSA P-384 key is this prefix followed by its uncompressed point (RFC 5480). */
const p384Prefix = Buffer.from('3076301006072a8648ce3d020106052b81040022036200', 'hex');
const p384Length = 130;

const isP384 = (publicKey: string): boolean => publicKey.length === p384Length;

/** The public key of a site from a P-384 key. */
export const encodeP384Key = (key: KeyObject): string =>
  key.export({ format: 'der', type: 'spki' }).subarray(p384Prefix.length).toString('base64url');

/** Returns the key of a site; undefined if it is none. */
export function decodeSiteKey(publicKey: string): KeyObject | undefined {
  if (!isP384(publicKey)) return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
  try {
    const der = Buffer.concat([p384Prefix, Buffer.from(publicKey, 'base64url')]);
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    // It has the length, and is no point on the curve.
    return undefined;
  }
}

/** Returns whether the signature, in base64, was made with the key of a site. */
export function isSignedBy(publicKey: string, bytes: Uint8Array, signature: string): boolean {
  const key = decodeSiteKey(publicKey);
  if (key === undefined) return false;
  const sig = Buffer.from(signature, 'base64');
  return isP384(publicKey)
    ? verifyFor('transfer p384', bytes, { key, dsaEncoding: 'ieee-p1363' }, sig)
    : verifyFor('transfer', bytes, key, sig);
}

/** The newest format that this release reads. */
export const maxFormat = 2;

/**
 * The format of documents that a site signs. Releases that do not know P-384 refuse format 2 with a sentence that names the format; they
 * read all documents of other sites.
 */
export const formatFor = (...publicKeys: readonly string[]): 1 | 2 => (publicKeys.some(isP384) ? 2 : 1);

// Public keys in the format of OpenSSH (RFC 4253, 5656, 8709 and PROTOCOL.u2f), and the verification of signatures.
import { createDigest, createPublicKey, verifyFor, type JsonWebKey, type KeyObject } from '../cryptography.ts';

/** Reads consecutive fields, each preceded by its length. Returns undefined past the end. */
export class SshFields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(length: number): Buffer | undefined {
    if (length > this.#bytes.length - this.#at) return undefined;
    return this.#bytes.subarray(this.#at, (this.#at += length));
  }

  number(): number | undefined {
    return this.take(4)?.readUInt32BE();
  }

  field(): Buffer | undefined {
    const length = this.number();
    return length === undefined ? undefined : this.take(length);
  }

  text(): string | undefined {
    return this.field()?.toString('latin1');
  }

  /** A positive integer in its only valid encoding. */
  positive(): Buffer | undefined {
    const bytes = this.field();
    if (bytes === undefined || bytes.length === 0 || bytes[0]! > 127) return undefined;
    if (bytes[0] !== 0) return bytes;
    return bytes.length > 1 && bytes[1]! > 127 ? bytes.subarray(1) : undefined;
  }
}

export const sshField = (bytes: string | Buffer): Buffer => {
  const content = Buffer.from(bytes as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
};

export interface SshKey {
  /** The line of `authorized_keys` without a comment: `ssh-ed25519 AAAA…`. */
  line: string;
  /** The fingerprint for comparison by people, as `ssh-keygen -l` shows it: `SHA256:…`. */
  fingerprint: string;
  /** Verifies a signature. `signature` is the inner signature blob of the SSH format. */
  hasSigned(signed: Buffer, signature: Buffer): boolean;
}

/** Parses the line of a public key, with or without a comment. Returns undefined if it is not a supported key. */
export function readSshKey(text: string): SshKey | undefined {
  const [, type = '', encoded = ''] =
    /^([a-z0-9@.-]{1,64}) ([A-Za-z0-9+/]{1,4096}={0,2})(?: [^\r\n]*)?$/.exec(text.trim()) ?? [];
  const blob = Buffer.from(encoded, 'base64');
  if (blob.length === 0 || blob.toString('base64') !== encoded) return undefined;
  const key = sshKeyOf(blob);
  return key?.line.startsWith(`${type} `) === true ? key : undefined;
}

/** The fingerprint of a line that was parsed before. */
export const fingerprintOfSshKey = (line: string): string =>
  fingerprintOf(Buffer.from(line.split(' ')[1] ?? '', 'base64'));

const fingerprintOf = (blob: Buffer): string =>
  `SHA256:${createDigest('key fingerprint').update(blob).digest('base64').replace('=', '')}`;

/** Parses the binary form of a key, as signatures contain it too. */
export function sshKeyOf(blob: Buffer): SshKey | undefined {
  const fields = new SshFields(blob);
  const type = fields.text() ?? '';
  const hasSigned = kinds.get(type)?.(fields);
  if (hasSigned === undefined || !fields.isAtEnd) return undefined;
  return {
    line: `${type} ${blob.toString('base64')}`,
    fingerprint: fingerprintOf(blob),
    hasSigned,
  };
}

type HasSigned = SshKey['hasSigned'];

/** The parsers of the fields after the type name. Each returns undefined if the fields are invalid. */
const kinds = new Map<string, (fields: SshFields) => HasSigned | undefined>([
  ['ssh-ed25519', ed25519],
  ['sk-ssh-ed25519@openssh.com', tokenEd25519],
  ['ssh-rsa', rsa],
  ['ecdsa-sha2-nistp256', ecdsa('P-256', 32, 'sha256')],
  ['ecdsa-sha2-nistp384', ecdsa('P-384', 48, 'sha384')],
  ['ecdsa-sha2-nistp521', ecdsa('P-521', 66, 'sha512')],
]);

function imported(jwk: JsonWebKey): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined; // for example a point that is not on the curve
  }
}

const base64url = (bytes: Buffer): string => bytes.toString('base64url');

function ed25519Key(fields: SshFields): KeyObject | undefined {
  const point = fields.field();
  return point?.length === 32 ? imported({ kty: 'OKP', crv: 'Ed25519', x: base64url(point) }) : undefined;
}

function ed25519(fields: SshFields): HasSigned | undefined {
  const key = ed25519Key(fields);
  if (key === undefined) return undefined;
  return (signed, signature) => {
    const signatureFields = new SshFields(signature);
    const [type, value] = [signatureFields.text(), signatureFields.field()];
    return (
      type === 'ssh-ed25519' &&
      value?.length === 64 &&
      signatureFields.isAtEnd &&
      verifyFor('approval ed25519', signed, key, value)
    );
  };
}

/** Set if a person touched the token. */
const isTouched = 0x01;

/** A key in a hardware token. It signs the message together with a counter and a flag for touch. */
function tokenEd25519(fields: SshFields): HasSigned | undefined {
  const key = ed25519Key(fields);
  const application = fields.field();
  if (key === undefined || application === undefined || application.length > 256) return undefined;
  const sha256 = (bytes: Buffer): Buffer => createDigest('approval sha256').update(bytes).digest();
  return (signed, signature) => {
    const signatureFields = new SshFields(signature);
    const [type, value, about] = [signatureFields.text(), signatureFields.field(), signatureFields.take(5)];
    if (type !== 'sk-ssh-ed25519@openssh.com' || value?.length !== 64 || about === undefined) return false;
    if (!signatureFields.isAtEnd || (about[0]! & isTouched) === 0) return false;
    return verifyFor('approval ed25519', Buffer.concat([sha256(application), about, sha256(signed)]), key, value);
  };
}

const rsaBits = { least: 2048, most: 8192 };
const rsaHashes = new Map<string, 'sha256' | 'sha512'>([
  ['rsa-sha2-256', 'sha256'],
  ['rsa-sha2-512', 'sha512'],
]);

function rsa(fields: SshFields): HasSigned | undefined {
  const [exponent, modulus] = [fields.positive(), fields.positive()];
  if (exponent === undefined || modulus === undefined || exponent.length > 8) return undefined;
  const bits = modulus.length * 8 - Math.clz32(modulus[0]!) + 24;
  if (bits < rsaBits.least || bits > rsaBits.most) return undefined;
  const key = imported({ kty: 'RSA', n: base64url(modulus), e: base64url(exponent) });
  if (key === undefined) return undefined;
  return (signed, signature) => {
    const signatureFields = new SshFields(signature);
    const [hash, value] = [rsaHashes.get(signatureFields.text() ?? ''), signatureFields.field()];
    if (hash === undefined || value?.length !== modulus.length || !signatureFields.isAtEnd) return false;
    return verifyFor(`approval ${hash}`, signed, key, value);
  };
}

function ecdsa(curve: string, size: number, hash: 'sha256' | 'sha384' | 'sha512') {
  const name = `nistp${curve.slice(2)}`;
  return (fields: SshFields): HasSigned | undefined => {
    const [curveName, point] = [fields.text(), fields.field()];
    if (curveName !== name || point?.length !== 1 + 2 * size || point[0] !== 4) return undefined;
    const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)];
    const key = imported({ kty: 'EC', crv: curve, x: base64url(x), y: base64url(y) });
    if (key === undefined) return undefined;
    return (signed, signature) => {
      const signatureFields = new SshFields(signature);
      const [type, value] = [signatureFields.text(), signatureFields.field()];
      if (type !== `ecdsa-sha2-${name}` || value === undefined || !signatureFields.isAtEnd) return false;
      const numbers = new SshFields(value);
      const both = [numbers.positive(), numbers.positive()].map((integer) => padded(integer, size));
      if (both.includes(undefined) || !numbers.isAtEnd) return false;
      const ieee = Buffer.concat(both as Buffer[]);
      return verifyFor(`approval ${hash}`, signed, { key, dsaEncoding: 'ieee-p1363' }, ieee);
    };
  };
}

const padded = (number: Buffer | undefined, size: number): Buffer | undefined =>
  number === undefined || number.length > size
    ? undefined
    : Buffer.concat([Buffer.alloc(size - number.length), number]);

// Signs and verifies statements: Ed25519 over the DSSE encoding (Dead Simple Signing Envelope 1.0, "PAE").
import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';

import { findProblems } from '#contract/schema.ts';
import type { TransferSignatures } from '#contract/wire.ts';
import { releaseBuffer } from '#platform/small-heap.ts';
import { toCanonicalText } from '#domain/canonical-json.ts';
import { NotATransfer } from './not-a-transfer.ts';

/** The payload is the statement of a transfer or of a request. */
type PayloadType = TransferSignatures['payloadType'];
const ofTransfers: PayloadType = 'application/vnd.larder.transfer.v1+json';
export const ofRequests: PayloadType = 'application/vnd.larder.request.v1+json';

/** Maximum size of the signatures in bytes. */
export const maxSignaturesBytes = 64 * 1024;

/** Maximum number of signatures in one list (`SignatureList` in the schemas). */
export const maxSignatures = 64;

/** A signing key from its 32-byte seed (RFC 8032). */
export class SigningSeed {
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
    return sign(null, bytes, this.#key);
  }
}

/** Returns the id of a public key: the SHA-256 of its 32 bytes, in hexadecimal. */
export const keyIdOf = (publicKey: string): string =>
  createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('hex');

/** Returns the bytes to sign: the payload, preceded by its type and length (DSSE, "PAE"). The buffer owns its memory. */
export function encodePae(payload: Uint8Array, type: string = ofTransfers): Buffer {
  const before = `DSSEv1 ${String(type.length)} ${type} ${String(payload.length)} `;
  const bytes = Buffer.from(new ArrayBuffer(before.length + payload.length));
  bytes.write(before, 'latin1');
  bytes.set(payload, before.length);
  return bytes;
}

/** Encodes the payload only while `work` runs, because a statement can have many megabytes. */
function whileEnclosed<Result>(payload: Uint8Array, type: string, work: (bytes: Buffer) => Result): Result {
  const bytes = encodePae(payload, type);
  try {
    return work(bytes);
  } finally {
    releaseBuffer(bytes);
  }
}

/** Adds a signature to those of a statement. It replaces an earlier signature by the same key. */
export function addSignature(
  statement: Uint8Array,
  seed: SigningSeed,
  before: TransferSignatures['signatures'] = [],
  payloadType: PayloadType = ofTransfers,
): Buffer {
  const keyid = keyIdOf(seed.publicKey);
  const sig = whileEnclosed(statement, payloadType, (bytes) => seed.sign(bytes).toString('base64'));
  const own = { keyid, sig };
  const signatures = [...before.filter((signature) => signature.keyid !== keyid), own].sort((a, b) =>
    a.keyid < b.keyid ? -1 : 1,
  );
  return Buffer.from(toCanonicalText({ payloadType, signatures } satisfies TransferSignatures));
}

type Signatures = TransferSignatures['signatures'];

/** Merges the signatures of all parts of one statement. Parts can differ, because a scanning station signs only the parts that it has. */
export function mergeSignatures(lists: readonly Signatures[]): Signatures {
  const all = new Map(lists.flat().map((signature) => [`${signature.keyid} ${signature.sig}`, signature]));
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, signature]) => signature);
}

/** Returns signatures in the form of a part. */
export const serializeSignatures = (signatures: Signatures): Buffer =>
  Buffer.from(toCanonicalText({ payloadType: ofTransfers, signatures } satisfies TransferSignatures));

/** Reads signatures without verifying them. Throws `NotATransfer` if they are malformed. */
export function readSignatures(
  bytes: Uint8Array,
  payloadType: PayloadType = ofTransfers,
): TransferSignatures['signatures'] {
  const text = Buffer.from(bytes).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new NotATransfer('Its signatures are not JSON.', { cause });
  }
  const [problem] = findProblems('TransferSignatures', value);
  if (problem !== undefined) throw new NotATransfer(`Its signatures are invalid: ${problem.message}.`);
  if (toCanonicalText(value) !== text) throw new NotATransfer('Its signatures are not in canonical form.');
  const envelope = value as TransferSignatures;
  if (envelope.payloadType !== payloadType) throw new NotATransfer('Its signatures are for another kind of document.');
  return envelope.signatures;
}

/** Returns those of the public keys that have signed a statement, without duplicates. */
export function findSigners(
  statement: Uint8Array,
  signatures: TransferSignatures['signatures'],
  keys: readonly string[],
  payloadType: PayloadType = ofTransfers,
): string[] {
  return whileEnclosed(statement, payloadType, (bytes) =>
    [...new Set(keys)].filter((publicKey) => {
      const keyid = keyIdOf(publicKey);
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
      return signatures.some(
        (signature) => signature.keyid === keyid && verify(null, bytes, key, Buffer.from(signature.sig, 'base64')),
      );
    }),
  );
}

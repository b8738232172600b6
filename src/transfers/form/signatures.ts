// Who has signed a statement: Ed25519 over what DSSE lays around it (Dead Simple Signing Envelope 1.0, "PAE").
import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';

import { problems } from '#api/schema.ts';
import type { TransferSignatures } from '#api/wire.ts';
import { giveBack } from '#src/small-heap.ts';
import { canonical } from './canonical.ts';
import { NotATransfer } from './not-a-transfer.ts';

/** What is signed: a transfer's statement, or that of a request. */
type PayloadType = TransferSignatures['payloadType'];
const ofTransfers: PayloadType = 'application/vnd.larder.transfer.v1+json';
export const ofRequests: PayloadType = 'application/vnd.larder.request.v1+json';

/** How many bytes the signatures have at most. */
export const largestSignatures = 64 * 1024;

/** How many signatures one list has at most (`SignatureList` in the schemas). */
export const maxSignatures = 64;

/** A key that signs: its 32 secret bytes (RFC 8032). */
export class SigningSeed {
  readonly #key: KeyObject;
  /** Its 32 bytes in base64url. */
  readonly publicKey: string;

  constructor(seed: Uint8Array) {
    // PKCS#8 of an Ed25519 key is this prefix and the seed (RFC 8410, section 7).
    const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
    this.#key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    this.publicKey = createPublicKey(this.#key).export({ format: 'jwk' }).x!;
  }

  sign(bytes: Uint8Array): Buffer {
    return sign(null, bytes, this.#key);
  }
}

/** By which people and signatures name a public key: the SHA-256 of its 32 bytes, in hexadecimal. */
export const keyIdOf = (publicKey: string): string =>
  createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('hex');

/** What is signed of a payload: its type and its length stand before it (DSSE, "PAE"). It has memory of its own. */
export function enclosed(payload: Uint8Array, type: string = ofTransfers): Buffer {
  const before = `DSSEv1 ${String(type.length)} ${type} ${String(payload.length)} `;
  const bytes = Buffer.from(new ArrayBuffer(before.length + payload.length));
  bytes.write(before, 'latin1');
  bytes.set(payload, before.length);
  return bytes;
}

/** The same for as long as it takes to do something with it: a statement may have many megabytes. */
function whileEnclosed<Result>(payload: Uint8Array, type: string, work: (bytes: Buffer) => Result): Result {
  const bytes = enclosed(payload, type);
  try {
    return work(bytes);
  } finally {
    giveBack(bytes);
  }
}

/** The signatures of a statement, with those that it has already; one of a key that signed before is put in its place. */
export function signed(
  statement: Uint8Array,
  seed: SigningSeed,
  before: TransferSignatures['signatures'] = [],
  payloadType: PayloadType = ofTransfers,
): Buffer {
  const keyid = keyIdOf(seed.publicKey);
  const sig = whileEnclosed(statement, payloadType, (bytes) => seed.sign(bytes).toString('base64'));
  const own = { keyid, sig };
  const signatures = [...before.filter((one) => one.keyid !== keyid), own].sort((a, b) => (a.keyid < b.keyid ? -1 : 1));
  return Buffer.from(canonical({ payloadType, signatures } satisfies TransferSignatures));
}

type Signatures = TransferSignatures['signatures'];

/** All signatures of one statement, of which each of its parts may have others: a station signs what it has. */
export function together(lists: readonly Signatures[]): Signatures {
  const all = new Map(lists.flat().map((one) => [`${one.keyid} ${one.sig}`, one]));
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** Signatures as a part of a transfer has them. */
export const signaturesOf = (signatures: Signatures): Buffer =>
  Buffer.from(canonical({ payloadType: ofTransfers, signatures } satisfies TransferSignatures));

/** Reads signatures; throws `NotATransfer` where they are none. Nothing is said yet of whether they are right. */
export function readSignatures(
  bytes: Uint8Array,
  payloadType: PayloadType = ofTransfers,
): TransferSignatures['signatures'] {
  const text = Buffer.from(bytes).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new NotATransfer('Its signatures are no JSON.', { cause });
  }
  const [problem] = problems('TransferSignatures', value);
  if (problem !== undefined) throw new NotATransfer(`Its signatures are none: ${problem.message}.`);
  if (canonical(value) !== text) throw new NotATransfer('Its signatures are not in the one form that they have.');
  const envelope = value as TransferSignatures;
  if (envelope.payloadType !== payloadType) throw new NotATransfer('Its signatures are those of something else.');
  return envelope.signatures;
}

/** Of some public keys those that have signed a statement; each counts once, however often it is there. */
export function signersOf(
  statement: Uint8Array,
  signatures: TransferSignatures['signatures'],
  keys: readonly string[],
  payloadType: PayloadType = ofTransfers,
): string[] {
  return whileEnclosed(statement, payloadType, (bytes) =>
    [...new Set(keys)].filter((publicKey) => {
      const keyid = keyIdOf(publicKey);
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
      return signatures.some((one) => one.keyid === keyid && verify(null, bytes, key, Buffer.from(one.sig, 'base64')));
    }),
  );
}

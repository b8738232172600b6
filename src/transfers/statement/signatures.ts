// Signs and verifies statements over the DSSE encoding (Dead Simple Signing Envelope 1.0, "PAE").
import { findProblems } from '#contract/schema.ts';
import type { TransferSignatures } from '#contract/wire.ts';
import { releaseBuffer } from '#platform/small-heap.ts';
import { toCanonicalText } from '#domain/canonical-json.ts';
import { NotATransfer } from './not-a-transfer.ts';
import { isSignedBy, keyIdOf, type SiteSigner } from './site-keys.ts';

/** The payload is the statement of a transfer or of a request. */
type PayloadType = TransferSignatures['payloadType'];
const ofTransfers: PayloadType = 'application/vnd.larder.transfer.v1+json';
export const ofRequests: PayloadType = 'application/vnd.larder.request.v1+json';

/** Maximum size of the signatures in bytes. */
export const maxSignaturesBytes = 64 * 1024;

/** Maximum number of signatures in one list (`SignatureList` in the schemas). */
export const maxSignatures = 64;

/** Returns the bytes to sign: the payload, preceded by its type and length (DSSE, "PAE"). The buffer owns its memory. */
export function encodePae(payload: Uint8Array, type: string = ofTransfers): Buffer {
  const before = `DSSEv1 ${String(type.length)} ${type} ${String(payload.length)} `;
  const bytes = Buffer.from(new ArrayBuffer(before.length + payload.length));
  bytes.write(before, 'latin1');
  bytes.set(payload, before.length);
  return bytes;
}

/** Adds a signature to those of a statement. It replaces an earlier signature by the same key. */
export async function addSignature(
  statement: Uint8Array,
  signer: SiteSigner,
  before: TransferSignatures['signatures'] = [],
  payloadType: PayloadType = ofTransfers,
): Promise<Buffer> {
  const keyid = keyIdOf(signer.publicKey);
  const bytes = encodePae(statement, payloadType);
  let sig: string;
  try {
    sig = (await signer.sign(bytes)).toString('base64');
  } finally {
    // A statement can have many megabytes.
    releaseBuffer(bytes);
  }
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
  const bytes = encodePae(statement, payloadType);
  try {
    return [...new Set(keys)].filter((publicKey) => {
      const keyid = keyIdOf(publicKey);
      return signatures.some((signature) => signature.keyid === keyid && isSignedBy(publicKey, bytes, signature.sig));
    });
  } finally {
    releaseBuffer(bytes);
  }
}

// Writes and reads DSSE envelopes, which contain signed documents other than transfers.
import { findProblems } from '#contract/schema.ts';
import type { SignedEnvelope } from '#contract/wire.ts';
import { toCanonicalText } from '#domain/canonical-json.ts';
import { encodePae } from './signatures.ts';
import { isSignedBy, keyIdOf, type SiteSigner } from './site-keys.ts';

/** A payload with its signatures, not yet verified. */
export interface OpenedEnvelope {
  payload: unknown;
  bytes: Buffer;
  type: string;
  signatures: SignedEnvelope['signatures'];
}

/** Signs a document and returns the text of its file. */
export async function signEnvelope(document: unknown, payloadType: string, signer: SiteSigner): Promise<string> {
  const payload = Buffer.from(toCanonicalText(document));
  const sig = (await signer.sign(encodePae(payload, payloadType))).toString('base64');
  const signatures = [{ keyid: keyIdOf(signer.publicKey), sig }];
  return `${JSON.stringify({ payloadType, payload: payload.toString('base64'), signatures }, null, 2)}\n`;
}

/** Reads an envelope with this type of payload; undefined if it is not one. Does not verify the signatures. */
export function openEnvelope(text: string, payloadType: string): OpenedEnvelope | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
    if (findProblems('SignedEnvelope', value).length > 0) return undefined;
    const { payload, payloadType: type, signatures } = value as SignedEnvelope;
    const bytes = Buffer.from(payload, 'base64');
    return type === payloadType ? { payload: JSON.parse(bytes.toString('utf8')), bytes, type, signatures } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns those of the public keys that have signed the envelope, without duplicates. */
export const findEnvelopeSigners = ({ bytes, type, signatures }: OpenedEnvelope, keys: readonly string[]): string[] =>
  [...new Set(keys)].filter((publicKey) => {
    const keyid = keyIdOf(publicKey);
    return signatures.some(
      (signature) => signature.keyid === keyid && isSignedBy(publicKey, encodePae(bytes, type), signature.sig),
    );
  });

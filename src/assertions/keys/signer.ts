// The interface of signers, which sign bytes without exposing their private keys, and the signing of assertions.
import type { KeyObject } from 'node:crypto';

import { contentOf, joined, type Headers, type AssertionValue } from '../format/assertion.ts';
import { encodeSignature, signedBytes } from '../format/openpgp.ts';
import { checkAssertion, typeOf } from '../format/types.ts';

export interface Signer {
  publicKey(keyId: string): Promise<KeyObject>;
  /** Signs bytes with RSASSA-PKCS1-v1_5 and SHA-512, off the event loop. */
  sign(keyId: string, bytes: Uint8Array): Promise<Uint8Array>;
}

export interface AssertionStatement {
  readonly type: string;
  readonly headers: Headers;
  readonly body?: string;
  readonly signedAt: Date;
}

/** Writes and signs an assertion and returns its text. Refuses headers that its type does not allow. */
export async function signAssertion(signer: Signer, signKeyId: string, statement: AssertionStatement): Promise<string> {
  const { type, body = '', signedAt } = statement;
  const { primaryKey, defaults } = typeOf({ type });
  // Defaults and empty values are not written, so they must not be checked either.
  const isWritten = ([name, value]: [string, AssertionValue]) =>
    defaults?.[name] !== value && (typeof value === 'string' || Object.keys(value).length > 0);
  const headers: Headers = Object.fromEntries(Object.entries(statement.headers).filter(isWritten));
  checkAssertion({ type, headers, body, format: Number(headers['format'] ?? 0), signKeyId });
  const content = contentOf(type, primaryKey, headers, body, signKeyId);
  const signature = await signer.sign(signKeyId, signedBytes(content, signedAt));
  return joined({ content, signature: encodeSignature(content, signedAt, signature) });
}

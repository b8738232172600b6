// The interface of signers, which sign bytes without exposing their private keys, and the signing of assertions.
import type { KeyObject } from '#domain/cryptography.ts';
import { contentOf, joined, type Headers, type AssertionValue } from '../format/assertion.ts';
import { checkAssertion, refuseNewerFormat, typeOf } from '../format/types.ts';

export interface Signer {
  publicKey(keyId: string): Promise<KeyObject>;
  /** Returns the text of a signature (RSASSA-PKCS1-v1_5 with SHA-512) of this content, made off the event loop. */
  sign(keyId: string, content: string, signedAt: Date): Promise<string>;
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
  const unsigned = { type, headers, body, format: Number(headers['format'] ?? 0), signKeyId };
  refuseNewerFormat(unsigned);
  checkAssertion(unsigned);
  const content = contentOf(type, primaryKey, headers, body, signKeyId);
  return joined({ content, signature: await signer.sign(signKeyId, content, signedAt) });
}

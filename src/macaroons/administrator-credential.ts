// The store administrator's credential: a line of text that the offline exchange turns into a token.
// The store keeps only its digest, in the configuration.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A new credential; the words in front tell a person who finds it somewhere what it is. */
export const newAdministratorCredential = (): string => `larder-admin-${randomBytes(32).toString('base64url')}`;

/** The digest of a credential, which may have blanks or a line end around it. */
export const administratorDigest = (credential: string): string => hash('sha3-384', credential.trim(), 'hex');

/** Whether a text is a store administrator's credential, of which the configuration keeps the digests. */
export function isAdministratorCredential(text: string, digests: string | readonly string[] | undefined): boolean {
  const digest = Buffer.from(administratorDigest(text));
  let found = false;
  for (const one of digests === undefined ? [] : [digests].flat()) {
    const expected = Buffer.from(one);
    if (expected.length === digest.length && timingSafeEqual(expected, digest)) found = true;
  }
  return found;
}

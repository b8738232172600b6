// The store administrator's credential: a line of text that the offline exchange turns into a token. The configuration
// has only its digest.
import { computeDigest, randomBytes, timingSafeEqual } from '#domain/cryptography.ts';

/** Creates a credential; its prefix identifies it to a person who finds it. */
export const newAdministratorCredential = (): string => `larder-admin-${randomBytes(32).toString('base64url')}`;

/** The digest of a credential; blanks and line ends around it are ignored. */
export const administratorDigest = (credential: string): string =>
  computeDigest('administrator credential', credential.trim(), 'hex');

/** Whether a text is a store administrator's credential with one of the digests in the configuration. */
export function isAdministratorCredential(text: string, digests: string | readonly string[] | undefined): boolean {
  const digest = Buffer.from(administratorDigest(text));
  let isMatch = false;
  for (const expectedDigest of digests === undefined ? [] : [digests].flat()) {
    const expected = Buffer.from(expectedDigest);
    if (expected.length === digest.length && timingSafeEqual(expected, digest)) isMatch = true;
  }
  return isMatch;
}

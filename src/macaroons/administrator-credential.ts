// The store administrator's credential: a line of text that the offline exchange turns into a token.
// The store keeps only its digest, in the configuration.
import { hash, randomBytes } from 'node:crypto';

/** A new credential; the words in front tell a person who finds it somewhere what it is. */
export const newAdministratorCredential = (): string => `larder-admin-${randomBytes(32).toString('base64url')}`;

/** The digest of a credential, which may have blanks or a line end around it. */
export const administratorDigest = (credential: string): string => hash('sha3-384', credential.trim(), 'hex');

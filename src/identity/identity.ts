// Assembles the identity provider of the store.
import { deriveKey } from '#domain/cryptography.ts';
import type { Acts } from '#acts/act.ts';
import type { IdentityProvider } from '#http/identity-provider.ts';
import type { Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import { createExchangeLimit } from './login/exchange-limit.ts';
import { createInteractions } from './login/interactions.ts';
import { createLogins } from './login/logins.ts';
import { createOwnCredentials } from './credentials/own-credentials.ts';
import { createPasswords, type Passwords } from './credentials/passwords.ts';

export interface IdentityOptions {
  records: StoreRecords;
  acts: Acts;
  siteKey: Buffer;
  now: Now;
  /** Whether the configuration currently requires one-time passwords of administrators. */
  requiresTotp: () => boolean;
  /** Whether the configuration currently requires that the login banner is acknowledged. */
  requiresAcknowledgement: () => boolean;
  /** How long a repeated proof counts before acts, in minutes. */
  proofMinutes: () => number;
  /** The roles that require a login with a client certificate. */
  certificateRoles: () => readonly string[];
  /** The name of the store, as authenticators show it. */
  host: () => string;
}

export function createIdentity(options: IdentityOptions): Omit<IdentityProvider, 'openid' | 'certificates'> {
  const { records, siteKey, now } = options;
  const parts = { ...options, passwords: sitePasswords(siteKey) };
  const logins = createLogins(parts);
  return {
    logins,
    own: createOwnCredentials({ ...parts, logins }),
    exchanges: createExchangeLimit({ records, now }),
    interactions: createInteractions({ records, siteKey, now }),
  };
}

/** Passwords with a pepper derived from the site key; the pepper is never stored in the records. */
export const sitePasswords = (siteKey: Buffer): Passwords =>
  createPasswords({ pepper: deriveKey(siteKey, 'password pepper') });

// The identity provider inside the store: who logs in, and what it is asked to say about him.
import { hkdfSync } from 'node:crypto';

import type { Acts } from '#acts/act.ts';
import type { Identity } from '#api/identity.ts';
import type { Now } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import { createExchangeLimit } from './exchange-limit.ts';
import { createInteractions } from './interactions.ts';
import { createLogins } from './logins.ts';
import { createOwnCredentials } from './own-credentials.ts';
import { createPasswords, type Passwords } from './passwords.ts';

export interface IdentityOptions {
  records: Records;
  acts: Acts;
  siteKey: Buffer;
  now: Now;
  /** Whether the store asks its administrators for one-time passwords, as it is configured now. */
  requiresTotp: () => boolean;
  /** The name of the store, as authenticators show it. */
  host: () => string;
}

export function createIdentity(options: IdentityOptions): Identity {
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

/** Passwords peppered with a key that is derived from the site key, and so is never in the records. */
export const sitePasswords = (siteKey: Buffer): Passwords =>
  createPasswords({ pepper: Buffer.from(hkdfSync('sha256', siteKey, '', 'password pepper', 32)) });

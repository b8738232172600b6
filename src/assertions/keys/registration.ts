// Determines the registration state of a signing key at the online store.
import type { Assertion } from '../format/assertion.ts';
import { keyState } from '../chain.ts';

/** `requested` after a request was written, `registered` after the account-key was imported, until it is revoked or expires. */
export type Registration = 'new' | 'requested' | 'registered' | 'expired' | 'revoked';

export function registrationOf(
  requestedAt: string | null,
  accountKey: Assertion | undefined,
  moment: Date,
): Registration {
  if (accountKey === undefined) return requestedAt === null ? 'new' : 'requested';
  const state = keyState(accountKey, moment);
  return state === 'revoked' || state === 'expired' ? state : 'registered';
}

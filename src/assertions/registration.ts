// How far a signing key has come on its way to the online store and back.
import type { Assertion } from './assertion.ts';
import { keyState } from './chain.ts';

/** `requested` once a request was written, `registered` once the account-key came back, until it is revoked or expires. */
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

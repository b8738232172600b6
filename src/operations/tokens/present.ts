import type { MacaroonRecord } from '#contract/wire.ts';
import { reachesOtherSessions, type Principal } from '#domain/tokens/principal.ts';
import type { IssuedMacaroon } from '#records/tokens/macaroons.ts';

/** Whether a token shows this macaroon of its account; a restricted token shows only itself. */
export const isVisibleTo =
  (principal: Principal) =>
  ({ sessionId }: Pick<IssuedMacaroon, 'sessionId'>): boolean =>
    sessionId === principal.sessionId || reachesOtherSessions(principal);

export const presentMacaroon = (macaroon: IssuedMacaroon): MacaroonRecord => ({
  description: macaroon.description,
  'revoked-at': macaroon.revokedAt,
  'revoked-by': macaroon.revokedBy,
  'session-id': macaroon.sessionId,
  'valid-since': macaroon.validSince,
  'valid-until': macaroon.validUntil,
});

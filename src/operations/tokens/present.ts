import type { MacaroonRecord } from '#api/wire.ts';
import type { Macaroon } from '#records/macaroons.ts';

export const presentMacaroon = (macaroon: Macaroon): MacaroonRecord => ({
  description: macaroon.description,
  'revoked-at': macaroon.revokedAt,
  'revoked-by': macaroon.revokedBy,
  'session-id': macaroon.sessionId,
  'valid-since': macaroon.validSince,
  'valid-until': macaroon.validUntil,
});

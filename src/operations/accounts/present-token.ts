import type { StoreToken } from '#api/wire.ts';
import type { OwnedMacaroon } from '#records/macaroons.ts';
import { presentMacaroon } from '../tokens/present.ts';

/** A token with its account, for administrators. */
export const presentToken = (macaroon: OwnedMacaroon): StoreToken => ({
  'account-id': macaroon.accountId,
  username: macaroon.username,
  kind: macaroon.kind,
  'last-used-at': macaroon.lastUsedAt,
  ...presentMacaroon(macaroon),
});

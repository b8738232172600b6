import type { StoreToken } from '#contract/wire.ts';
import type { OwnedMacaroon } from '#records/tokens/macaroons.ts';
import { presentMacaroon } from './present.ts';

/** A token with its account, for administrators. */
export const presentToken = (macaroon: OwnedMacaroon): StoreToken => ({
  'account-id': macaroon.accountId,
  username: macaroon.username,
  kind: macaroon.kind,
  'last-used-at': macaroon.lastUsedAt,
  ...presentMacaroon(macaroon),
});

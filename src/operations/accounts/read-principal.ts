// Builds the principal of an account's unrestricted token.
import type { Principal } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';

/** Refuses an account that does not exist or is disabled. */
export async function readPrincipal(
  { accounts }: Pick<StoreRecords, 'accounts'>,
  identifier: string,
): Promise<Principal> {
  const account = await accounts.findByName(identifier);
  if (account === undefined) throw new Refusal('account-not-found', `There is no account '${identifier}'.`);
  const disabledAt = await accounts.disabledAt(account.id);
  if (disabledAt !== null) {
    throw new Refusal(
      'conflict',
      `The account of ${account.username} is disabled since ${disabledAt}: it may nothing.`,
    );
  }
  const { id: accountId, username, displayName, email, validation } = account;
  const storeAdministrator = await accounts.isStoreAdministrator(accountId);
  const unrestricted = { permissions: null, channels: null, packages: null };
  return {
    accountId,
    username,
    displayName,
    email,
    validation,
    storeAdministrator,
    sessionId: '',
    until: Infinity,
    ...unrestricted,
  };
}

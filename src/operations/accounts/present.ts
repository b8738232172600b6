import type { AccountState } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { StoreRecords } from '#records/index.ts';

/** The account that a path names; throws if it does not exist. */
export async function findAccount(id: string, { accounts }: Pick<StoreRecords, 'accounts'>): Promise<Account> {
  const account = await accounts.find(id);
  if (account !== undefined) return account;
  throw new Refusal('resource-not-found', `There is no account with the id '${id.slice(0, 64)}'.`);
}

/** The state of an account after a change. */
export const presentState = (
  { id, username }: Account,
  disabledAt: string | null,
  endedTokens: number | undefined,
): AccountState => ({ id, username, 'disabled-at': disabledAt, 'ended-tokens': endedTokens ?? 0 });

// Accounts of other stores, known from imported packages. They cannot log in here.
import { isDeepStrictEqual } from 'node:util';

import type { ForeignAccount } from '#assertions/foreign-snap.ts';
import { displayNameProblem, usernameProblem } from '#domain/accounts/account.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import { validations } from './details.ts';

type AccountRecords = Pick<StoreRecords, 'accounts'> | Pick<ChangeRecords, 'accounts'>;

/** The change to the record of an account of another store. */
export interface ForeignAccountChange {
  /** The account before the change; null if this store did not know it. */
  before: Account | null;
  after: Account;
}

/**
 * Computes the change to the record of an account of another store, to match that store. Returns undefined if nothing
 * changes, and for an account of this store, which stays as it is.
 *
 * @param claimed - User names that other accounts of the same transfer get.
 */
export async function foreignAccountChange(
  { accounts }: AccountRecords,
  account: ForeignAccount,
  at: string,
  claimed: ReadonlySet<string> = new Set(),
): Promise<ForeignAccountChange | undefined> {
  const { id, displayName, validation } = account;
  const before = await accounts.find(id);
  if (before !== undefined && !(await accounts.isForeign(id))) return undefined;
  const details = {
    id,
    displayName: displayNameProblem(displayName) === undefined ? displayName : id,
    // The top-level domain `invalid` never receives mail (RFC 2606).
    email: `${id}@foreign.invalid`,
    // The first account assertions called a verified account "certified".
    validation:
      validations.find((allowed) => allowed === validation) ?? (validation === 'certified' ? 'verified' : 'unproven'),
    createdAt: before?.createdAt ?? at,
  };
  const after = await withUsername({ accounts }, account, details, claimed);
  return before !== undefined && isDeepStrictEqual(after, before) ? undefined : { before: before ?? null, after };
}

/** Keeps the user name from the other store, or picks another one if an account here has it. */
async function withUsername(
  { accounts }: AccountRecords,
  { id, username }: ForeignAccount,
  details: Omit<Account, 'username'>,
  claimed: ReadonlySet<string>,
): Promise<Account> {
  const others = Array.from({ length: 9 }, (_, at) => `${id}.${at + 2}`);
  for (const candidate of [username ?? id, id, ...others]) {
    const account = { ...details, username: candidate };
    const isPossible = (candidate === id || usernameProblem(candidate) === undefined) && !claimed.has(candidate);
    if (isPossible && (await accounts.takenFrom(account)) === undefined) return account;
  }
  throw new Refusal(
    'conflict',
    `The names of the account '${id}' are all taken in this store. Rename the accounts that have them.`,
  );
}

export async function storeForeignAccount(
  { accounts }: Pick<ChangeRecords, 'accounts'>,
  { before, after }: ForeignAccountChange,
): Promise<void> {
  if (before === null) await accounts.addForeign(after);
  else await accounts.update(after);
}

/** An account in a line for people: `ada, verified, called Ada Lovelace`. */
export const accountText = ({
  username,
  displayName,
  validation,
}: Pick<Account, 'username' | 'displayName' | 'validation'>): string =>
  `${username}, ${validation}, called ${displayName}`;

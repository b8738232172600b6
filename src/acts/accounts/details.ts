// The details of an account: its names, its e-mail address and its validation.
import { displayNameProblem, emailAddress, usernameProblem } from '#domain/accounts/account.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { ChangeRecords } from '#records/index.ts';
import { accountObject, requireAccount, markTouched, type AccountTarget } from './accounts.ts';
import { act } from '../act.ts';

/** The details that can change; omitted ones stay. */
export type AccountDetails = Partial<Pick<Account, 'username' | 'displayName' | 'email' | 'validation'>>;

/** How far the store vouches for an account. */
export const validations = ['unproven', 'verified', 'starred'] as const;

export const updateAccount = act({
  name: 'update_account',
  summary: 'Change the user name, the display name, the e-mail address or the validation of an account.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'the approvals of a changed account do not count for three days' },

  async perform(tx, { id, ...details }: AccountTarget & AccountDetails, doing) {
    const account = await change(tx, { id, details, at: doing.at, note: doing.note });
    await markTouched(tx, id, doing);
    return account;
  },
});

export const updateOwnAccount = act({
  name: 'update_own_account',
  summary: 'Change your own display name.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'a display name is for people to read and decides nothing' },

  perform: (tx, { id, displayName }: AccountTarget & Required<Pick<AccountDetails, 'displayName'>>, { at, note }) =>
    change(tx, { id, details: { displayName }, at, note }),
});

interface AccountDetailsChange extends AccountTarget {
  details: AccountDetails;
  at: string;
  note: (details: Record<string, unknown>) => void;
}

async function change(tx: ChangeRecords, { id, details, at, note }: AccountDetailsChange): Promise<Account> {
  const before = await requireAccount(tx, id);
  const account = { ...before, ...details };
  refuseWrong(account);
  const names = ['username', 'displayName', 'email', 'validation'] as const;
  const changed = names.filter((name) => account[name] !== before[name]);
  note(Object.fromEntries(changed.map((name) => [words[name], { from: before[name], to: account[name] }])));
  const taken = await tx.accounts.takenFrom(account);
  if (taken !== undefined) throw new Refusal('conflict', `The ${taken} is taken.`);
  await tx.accounts.update(account);
  if (account.username !== before.username) await tx.accounts.keepFormerUsername(before.username, id, at);
  return account;
}

const words = {
  username: 'user name',
  displayName: 'display name',
  email: 'e-mail address',
  validation: 'validation',
} as const;

function refuseWrong({ username, displayName, email, validation }: Account): void {
  const problem =
    usernameProblem(username) ??
    displayNameProblem(displayName) ??
    (emailAddress(email) === email ? undefined : `'${email}' is not an e-mail address.`) ??
    (validations.some((allowed) => allowed === validation)
      ? undefined
      : `The validation is ${validations.join(', ')}, not '${validation}'.`);
  if (problem !== undefined) throw new Refusal('api-error', problem);
}

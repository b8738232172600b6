// Accounts: create, enable and disable accounts, and change their roles.
import { displayNameProblem, emailAddress, usernameProblem } from '#domain/accounts/account.ts';
import { isAccountId } from '#domain/ids.ts';
import { Refusal } from '#domain/refusal.ts';
import type { AccountRole } from '#domain/accounts/role.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { ChangeRecords } from '#records/index.ts';
import { act, type ActContext } from '../act.ts';

export interface NewAccount extends Pick<Account, 'id' | 'username' | 'displayName' | 'email'> {
  /** Whether this store made the id, so that it does not exist in the online store. */
  idMadeHere: boolean;
}

/** The account of an act. */
export interface AccountTarget {
  /** The account's id. */
  id: string;
}

/** The object of an act on an account. */
export const accountObject = ({ id }: AccountTarget): string => `account/${id}`;

export const createAccount = act({
  name: 'create_account',
  summary: 'Create an account for a publisher.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'the approvals of a new account do not count for three days' },

  perform: addAccount,
});

/** Adds an account, or takes over that of another store with the same id. */
export async function addAccount(
  tx: ChangeRecords,
  { idMadeHere, id, username, displayName, email }: NewAccount,
  doing: ActContext,
): Promise<Account> {
  const details = { id, username, displayName, email };
  const problem =
    usernameProblem(username) ??
    displayNameProblem(displayName) ??
    (emailAddress(email) === email ? undefined : `'${email}' is not an e-mail address.`) ??
    (isAccountId(id) ? undefined : `'${id}' is not an account id.`);
  if (problem !== undefined) throw new Refusal('api-error', problem);
  doing.note({ username, email });
  if (await tx.accounts.isForeign(id)) return convertToOwnAccount(tx, details, doing);
  const taken = await tx.accounts.taken(details);
  if (taken !== undefined) throw new Refusal('conflict', `The ${words[taken]} '${details[taken]}' is taken.`);
  const account = { ...details, validation: 'unproven', createdAt: doing.at };
  await tx.accounts.add(account, { idMadeHere });
  await markTouched(tx, id, doing);
  return account;
}

/**
 * Turns the account of another store, known from imported packages, into an account of this store. It keeps its
 * packages.
 */
async function convertToOwnAccount(
  tx: ChangeRecords,
  details: Omit<NewAccount, 'idMadeHere'>,
  doing: ActContext,
): Promise<Account> {
  const account = { ...(await requireAccount(tx, details.id)), ...details };
  const taken = await tx.accounts.takenFrom(account);
  if (taken !== undefined) throw new Refusal('conflict', `The ${taken} is taken.`);
  await tx.accounts.update(account);
  await tx.accounts.makeOwn(account.id);
  await markTouched(tx, account.id, doing);
  return account;
}

const words = { id: 'account id', username: 'user name', email: 'e-mail address' } as const;

export const disableAccount = act({
  name: 'disable_account',
  summary: 'Disable an account: its password and its tokens stop working.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'an account that may do harm must lose access at once' },

  /**
   * `moment` is the latest time that the store has seen. With `endTokens`, the account's tokens stay revoked when it is
   * enabled again.
   */
  async perform(
    tx,
    { id, moment, endTokens }: AccountTarget & { moment: string; endTokens: boolean },
    { actor, note },
  ): Promise<{ disabledAt: string | null; endedTokens: number | undefined }> {
    await requireAccount(tx, id);
    await refuseLastAdministrator(tx, id);
    await tx.accounts.disable(id, moment);
    await tx.setUpLinks.removeOf(id);
    const disabledAt = await tx.accounts.disabledAt(id);
    if (!endTokens) return { disabledAt, endedTokens: undefined };
    const endedTokens = await tx.macaroons.endAll(id, { at: moment, actor, issuedBefore: null });
    note({ 'ended-tokens': endedTokens });
    return { disabledAt, endedTokens };
  },
});

export const enableAccount = act({
  name: 'enable_account',
  summary: 'Enable a disabled account; its tokens that have not ended work again.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'the approvals of a changed account do not count for three days' },

  async perform(tx, { id }: AccountTarget, doing): Promise<void> {
    await requireAccount(tx, id);
    if (await tx.accounts.isForeign(id)) {
      throw new Refusal(
        'conflict',
        `The account '${id}' belongs to another store and is known from imported packages. ` +
          `Make it an account of this store with 'larder account create --id ${id}' and a name and an address.`,
      );
    }
    await tx.accounts.enable(id);
    await markTouched(tx, id, doing);
  },
});

export const changeRole = act({
  name: 'change_role',
  summary: 'Give a role to an account, or take it away.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'the approvals of a changed account do not count for three days' },

  /** Returns the roles of the account after the change. */
  async perform(
    tx,
    { id, role, remove }: AccountTarget & { role: AccountRole; remove: boolean },
    doing,
  ): Promise<string[]> {
    const { at, note } = doing;
    note({ role, removed: remove });
    await requireAccount(tx, id);
    const ofGroup = await tx.groupRoles.find(id, role);
    if (ofGroup !== undefined) {
      throw new Refusal(
        'conflict',
        `The account '${id}' has the role ${role} because of the group '${ofGroup.group}'. Change the members of the ` +
          'group at the OpenID provider, or [identity.oidc.roles] in larder.toml.',
      );
    }
    const brand = brandOf(role);
    if (brand !== undefined && (await tx.brands.find(brand)) === undefined) {
      throw new Refusal('resource-not-found', `There is no brand with the account '${brand}'.`);
    }
    if (role === 'store-admin' && remove) await refuseLastAdministrator(tx, id);
    await (remove ? removeRole(tx, id, role) : giveRole(tx, id, role, at));
    await markTouched(tx, id, doing);
    return tx.accounts.rolesOf(id);
  },
});

/** The brand of a role; undefined if it is a role for the whole store. */
export const brandOf = (role: AccountRole): string | undefined =>
  role.startsWith('brand-admin:') ? role.slice('brand-admin:'.length) : undefined;

export async function giveRole(tx: ChangeRecords, id: string, role: AccountRole, at: string): Promise<void> {
  if (role === 'store-admin') await tx.accounts.makeStoreAdministrator(id, at);
  else if (role === 'transfer-approver' || role === 'auditor') await tx.accounts.assign(id, role, at);
  else await tx.brands.addAdministrator(brandOf(role) ?? '', id, at);
}

export async function removeRole(tx: ChangeRecords, id: string, role: AccountRole): Promise<void> {
  if (role === 'store-admin') await tx.accounts.endStoreAdministrator(id);
  else if (role === 'transfer-approver' || role === 'auditor') await tx.accounts.unassign(id, role);
  else await tx.brands.removeAdministrator(brandOf(role) ?? '', id);
}

/**
 * Records that an account, its roles or its credentials were changed, so that its approvals do not count for a while.
 * This includes changes by the account itself, because an administrator can log in as an account that they just
 * created.
 */
export const markTouched = async (
  { accounts }: Pick<ChangeRecords, 'accounts'>,
  id: string,
  { at, actor, action }: Pick<ActContext, 'at' | 'actor' | 'action'>,
): Promise<void> => {
  await accounts.touch(id, { at, by: actor, what: action });
};

/** Returns an account; refuses an unknown id. */
export async function requireAccount({ accounts }: Pick<ChangeRecords, 'accounts'>, id: string): Promise<Account> {
  const account = await accounts.find(id);
  if (account !== undefined) return account;
  throw new Refusal('resource-not-found', `There is no account with the id '${id.slice(0, 64)}'.`);
}

/** Refuses to disable or demote the only enabled local store administrator: the OpenID provider can be away. */
async function refuseLastAdministrator({ accounts }: ChangeRecords, id: string): Promise<void> {
  if (!(await accounts.isLocalAdministrator(id)) || (await accounts.isOtherAdministrator(id))) return;
  throw new Refusal(
    'conflict',
    `The account '${id}' is the only store administrator who is not disabled. Make another one first: ` +
      "'larder account role ID store-admin'.",
  );
}

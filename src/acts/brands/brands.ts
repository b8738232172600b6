// Brands: accounts that have models and signing keys.
import { brandNameProblem } from '#domain/accounts/account.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Brand } from '#records/brands/brands.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import { act } from '../act.ts';

export interface NamedBrand {
  /** The account that is the brand. */
  accountId: string;
  /** The name that people see. */
  name: string;
}

const object = ({ accountId }: { accountId: string }): string => `brand/${accountId}`;

export const createBrand = act<NamedBrand, Brand>({
  name: 'create_brand',
  summary: 'Make an account a brand.',
  on: 'brand/ACCOUNT-ID',
  object,
  gate: { never: 'a brand without keys signs nothing' },

  async perform(tx, { accountId, name: rawName }, { at, note }) {
    const name = brandName(rawName);
    const brand = { accountId, name, createdAt: at, createdBy: accountId, modifiedAt: null, modifiedBy: null };
    if (!(await tx.brands.claim(brand))) {
      throw new Refusal('conflict', `The account '${accountId}' is a brand already.`);
    }
    note({ name });
    return brand;
  },
});

export const updateBrand = act<NamedBrand, Brand>({
  name: 'update_brand',
  summary: 'Rename a brand.',
  on: 'brand/ACCOUNT-ID',
  object,
  gate: { never: 'the name is for people to read and decides nothing' },

  async perform(tx, { accountId, name: rawName }, { at, actor, note }) {
    const name = brandName(rawName);
    const brand = await tx.brands.find(accountId);
    if (brand === undefined) throw noBrand(accountId);
    const renamed = { ...brand, name, modifiedAt: at, modifiedBy: actor };
    await tx.brands.rename(renamed);
    note({ name });
    return renamed;
  },
});

export const deleteBrand = act({
  name: 'delete_brand',
  summary: 'Delete a brand that has neither models nor signing keys; its account stays.',
  on: 'brand/ACCOUNT-ID',
  object,
  gate: { never: 'it has neither models nor keys' },

  async perform(tx, { accountId }: { accountId: string }) {
    const use = await tx.brands.inUse(accountId);
    if (use !== undefined) {
      throw new Refusal('conflict', `The brand ${accountId} still has ${use}; delete those first.`);
    }
    await tx.brands.remove(accountId);
  },
});

/** Whether a principal administers a brand. */
export const administers = async (
  principal: Pick<Principal, 'accountId' | 'storeAdministrator'>,
  brandAccountId: string,
  { brands }: { brands: Pick<StoreRecords['brands'], 'isAdministrator'> },
): Promise<boolean> =>
  principal.storeAdministrator || (await brands.isAdministrator(brandAccountId, principal.accountId));

/**
 * The account that a record of a brand names as its author: the account that acts, or the brand's own for a command on
 * the host. The audit log names the person.
 */
export const authorOf = async (
  { accounts }: Pick<ChangeRecords, 'accounts'>,
  actor: string,
  brandAccountId: string,
): Promise<string> => ((await accounts.find(actor)) === undefined ? brandAccountId : actor);

/** The error for a brand that does not exist, or that the caller may not see. */
export const noBrand = (accountId: string): Refusal =>
  new Refusal(
    'resource-not-found',
    `Brand ${accountId.slice(0, 64)} not found, or this account does not administer it`,
  );

/** The name as it is stored, without surrounding blanks. */
function brandName(rawName: string): string {
  const name = rawName.trim();
  const problem = brandNameProblem(name);
  if (problem !== undefined) throw new Refusal('api-error', problem);
  return name;
}

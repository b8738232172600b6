import type { Brand as BrandShape } from '#contract/wire.ts';
import type { Account } from '#records/accounts/accounts.ts';
import type { Brand } from '#records/brands/brands.ts';
import { presentAccount } from '../present.ts';

/** Presents who created an object and who changed it last, and when. */
export function presentMakers(
  subject: { createdAt: string; createdBy: string; modifiedAt: string | null; modifiedBy: string | null },
  people: Map<string, Account>,
) {
  const creator = people.get(subject.createdBy);
  const modifier = subject.modifiedBy === null ? undefined : people.get(subject.modifiedBy);
  if (creator === undefined) throw new Error(`cannot find the account ${subject.createdBy}`);
  return {
    'created-at': subject.createdAt,
    'created-by': presentAccount(creator),
    'modified-at': subject.modifiedAt,
    'modified-by': modifier === undefined ? null : presentAccount(modifier),
  };
}

export const presentBrand = (brand: Brand, people: Map<string, Account>): BrandShape => ({
  'account-id': brand.accountId,
  name: brand.name,
  ...presentMakers(brand, people),
});

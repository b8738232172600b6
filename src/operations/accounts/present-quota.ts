// Presents the quota of an account, for operations and commands.
import type { AccountQuota, Limit, NewLimit } from '#contract/wire.ts';
import { quotaOf, unlimited, type Quota } from '#domain/accounts/quota.ts';
import type { StoreRecords } from '#records/index.ts';

export async function presentQuota(
  { quotas }: Pick<StoreRecords, 'quotas'>,
  { id, username }: { id: string; username: string },
  defaultQuota: Quota,
): Promise<AccountQuota> {
  const [own, bytes, packages] = await Promise.all([quotas.find(id), quotas.bytes(id), quotas.packages(id)]);
  const effectiveQuota = quotaOf(own, defaultQuota);
  const limit = (of: keyof Quota, used: number): Limit => ({
    used,
    limit: effectiveQuota[of] >= unlimited ? null : effectiveQuota[of],
    own: typeof own?.[of] === 'number',
  });
  return { id, username, bytes: limit('bytes', bytes), packages: limit('packages', packages) };
}

/** A requested limit as it is stored; null for the default of the configuration. */
export const toStoredLimit = (limit: NewLimit): number | null =>
  limit === 'default' ? null : limit === 'none' ? unlimited : limit;

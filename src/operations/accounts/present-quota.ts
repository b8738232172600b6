// Presents the quota of an account, for operations and commands.
import type { AccountQuota, Limit, NewLimit } from '#api/wire.ts';
import { quotaOf, unlimited, type Quota } from '#domain/quota.ts';
import type { Records } from '#records/index.ts';

export async function presentQuota(
  { quotas }: Pick<Records, 'quotas'>,
  { id, username }: { id: string; username: string },
  everybody: Quota,
): Promise<AccountQuota> {
  const [own, bytes, packages] = await Promise.all([quotas.find(id), quotas.bytes(id), quotas.packages(id)]);
  const most = quotaOf(own, everybody);
  const limit = (of: keyof Quota, used: number): Limit => ({
    used,
    limit: most[of] >= unlimited ? null : most[of],
    own: typeof own?.[of] === 'number',
  });
  return { id, username, bytes: limit('bytes', bytes), packages: limit('packages', packages) };
}

/** A requested limit as it is stored; null for the default of the configuration. */
export const keptLimit = (wanted: NewLimit): number | null =>
  wanted === 'default' ? null : wanted === 'none' ? unlimited : wanted;

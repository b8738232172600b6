// Quotas: how much a publisher may store, and the errors for exceeding it.
import { quotaOf, unlimited, type Quota } from '#domain/accounts/quota.ts';
import { formatCount } from '#domain/quantities.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { OwnQuota } from '#records/packages/quotas.ts';
import { act } from '../act.ts';

export const setQuota = act({
  name: 'set_quota',
  summary: 'Set the quota of a publisher in bytes and packages, or use the one in the configuration.',
  on: 'account/ACCOUNT-ID',
  object: ({ id }: { id: string }) => `account/${id}`,
  gate: { never: 'it limits later uploads and leaves stored content as it is' },

  /** Omitted limits stay as they are. */
  async perform(tx, { id, quota }: { id: string; quota: Partial<OwnQuota> }, { note }): Promise<void> {
    for (const limit of [quota.bytes, quota.packages]) {
      if (limit === undefined || limit === null || (Number.isSafeInteger(limit) && limit >= 0)) continue;
      throw new Refusal('api-error', 'A quota is a whole number from 0 up.');
    }
    const before = (await tx.quotas.find(id)) ?? { bytes: null, packages: null };
    const after = { ...before, ...quota };
    await tx.quotas.set(id, after);
    note({ ...inWords(after), before: inWords(before) });
  },
});

/** A quota as the audit log shows it. */
function inWords({ bytes, packages }: OwnQuota): Record<keyof Quota, number | string> {
  const word = (limit: number | null): number | string =>
    limit === null ? 'default' : limit >= unlimited ? 'none' : limit;
  return { bytes: word(bytes), packages: word(packages) };
}

interface PublisherQuota {
  /** An account's id. */
  publisherId: string;
  /** The quota of publishers without a quota of their own. */
  defaultQuota: Quota;
}

/** Returns the refusal of a newly registered package, `forbidden`, if its publisher exceeds their quota with it. */
export async function findPackagesBeyond(
  tx: ChangeRecords,
  { publisherId, defaultQuota }: PublisherQuota,
): Promise<Refusal | undefined> {
  const { packages: limit } = quotaOf(await tx.quotas.find(publisherId), defaultQuota);
  if (limit >= unlimited) return undefined;
  const used = await tx.quotas.packages(publisherId);
  if (used <= limit) return undefined;
  return new Refusal(
    'forbidden',
    `This publisher has ${formatCount(used - 1, 'package')} and may have ${limit}. ${advice}`,
  );
}

/** Refuses content that is about to be claimed, with `forbidden`, if its publisher would exceed their quota. */
export async function refuseBytesBeyond(
  tx: ChangeRecords,
  { publisherId, defaultQuota, sha3_384, size }: PublisherQuota & { sha3_384: string; size: number },
): Promise<void> {
  const { bytes: limit } = quotaOf(await tx.quotas.find(publisherId), defaultQuota);
  if (limit >= unlimited) return;
  const used = await tx.quotas.bytes(publisherId);
  // Content that another package of the publisher has is not counted again, even if the quota was lowered.
  if (used + size <= limit || (await tx.quotas.holds(publisherId, sha3_384))) return;
  throw tooManyBytes(used, limit, size);
}

/**
 * Returns a check that refuses a size, with `forbidden`, before the content is known: it fails if the size exceeds the
 * publisher's remaining quota and also the total size of their contents, so that it cannot be one of these.
 */
export async function createSizeCheck(
  { quotas }: Pick<StoreRecords, 'quotas'>,
  { packageId, defaultQuota }: Pick<PublisherQuota, 'defaultQuota'> & { packageId: string },
): Promise<(size: number) => void> {
  const publisherId = await quotas.publisherOf(packageId);
  if (publisherId === undefined) return () => undefined;
  const { bytes: limit } = quotaOf(await quotas.find(publisherId), defaultQuota);
  if (limit >= unlimited) return () => undefined;
  const used = await quotas.bytes(publisherId);
  return (size) => {
    if (size > Math.max(limit - used, used)) throw tooManyBytes(used, limit, size);
  };
}

/**
 * Refuses a package that was just handed over, with `forbidden`, if the new publisher exceeds their quota. `before` is
 * their total size in bytes before it; content shared with their other packages is not counted again.
 */
export async function refuseReceivedBeyond(
  tx: ChangeRecords,
  { publisherId, defaultQuota, before }: PublisherQuota & { before: number },
): Promise<void> {
  const tooMany = await findPackagesBeyond(tx, { publisherId, defaultQuota });
  if (tooMany !== undefined) throw tooMany;
  const { bytes: limit } = quotaOf(await tx.quotas.find(publisherId), defaultQuota);
  if (limit >= unlimited) return;
  const used = await tx.quotas.bytes(publisherId);
  if (used > limit && used > before) throw tooManyBytes(before, limit, used - before);
}

const tooManyBytes = (used: number, limit: number, more: number): Refusal =>
  new Refusal(
    'forbidden',
    `This publisher has ${used} bytes in the store and may have ${limit}; these are ${more} more. ${advice}`,
  );

const advice = "Ask the administrator of the store for a higher quota ('larder account quota').";

// Quotas: how much a publisher may have in the store, and the refusal of what goes beyond.
import { quotaOf, unlimited, type Quota } from '#domain/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Changes, Records } from '#records/index.ts';
import type { OwnQuota } from '#records/quotas.ts';
import { act } from './act.ts';

export const setQuota = act({
  name: 'set_quota',
  summary: 'Set how many bytes and how many packages a publisher may have, or leave it to the configuration.',
  on: 'account/ACCOUNT-ID',
  object: ({ id }: { id: string }) => `account/${id}`,
  gate: { never: 'it bounds what comes, and changes nothing that is there' },

  /** What is not said stays as it is. */
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

/** A quota as the audit log tells it. */
function inWords({ bytes, packages }: OwnQuota): Record<keyof Quota, number | string> {
  const word = (limit: number | null): number | string =>
    limit === null ? 'default' : limit >= unlimited ? 'none' : limit;
  return { bytes: word(bytes), packages: word(packages) };
}

interface Publisher {
  /** An account's id. */
  publisherId: string;
  /** What publishers may have for whom nothing else is set. */
  everybody: Quota;
}

/** Refuses a package that was just registered, with `forbidden`, when its publisher has more than he may. */
export async function refusePackagesBeyond(tx: Changes, { publisherId, everybody }: Publisher): Promise<void> {
  const { packages: limit } = quotaOf(await tx.quotas.find(publisherId), everybody);
  if (limit >= unlimited) return;
  const used = await tx.quotas.packages(publisherId);
  if (used <= limit) return;
  throw new Refusal('forbidden', `This publisher has ${used - 1} packages and may have ${limit}. ${advice}`);
}

/** Refuses content that is about to be claimed, with `forbidden`, when its publisher has more bytes with it than he may. */
export async function refuseBytesBeyond(
  tx: Changes,
  { publisherId, everybody, sha3_384, size }: Publisher & { sha3_384: string; size: number },
): Promise<void> {
  const { bytes: limit } = quotaOf(await tx.quotas.find(publisherId), everybody);
  if (limit >= unlimited) return;
  const used = await tx.quotas.bytes(publisherId);
  // What one of his packages has already takes no more room, also where the quota was lowered meanwhile.
  if (used + size <= limit || (await tx.quotas.holds(publisherId, sha3_384))) return;
  throw tooManyBytes(used, limit, size);
}

/**
 * What refuses so many bytes of one content, with `forbidden`, while nobody knows yet which content it is: more than its
 * publisher may still have, and more than any has that he has already.
 */
export async function bytesToCome(
  { quotas }: Pick<Records, 'quotas'>,
  { packageId, everybody }: Pick<Publisher, 'everybody'> & { packageId: string },
): Promise<(size: number) => void> {
  const publisherId = await quotas.publisherOf(packageId);
  if (publisherId === undefined) return () => undefined;
  const { bytes: limit } = quotaOf(await quotas.find(publisherId), everybody);
  if (limit >= unlimited) return () => undefined;
  const used = await quotas.bytes(publisherId);
  return (size) => {
    if (size > Math.max(limit - used, used)) throw tooManyBytes(used, limit, size);
  };
}

/**
 * Refuses a package that was just handed to its publisher, with `forbidden`, when he has more packages or bytes with it
 * than he may. `before` are the bytes that he had without it: what his other packages keep too takes no more room.
 */
export async function refuseReceivedBeyond(
  tx: Changes,
  { publisherId, everybody, before }: Publisher & { before: number },
): Promise<void> {
  await refusePackagesBeyond(tx, { publisherId, everybody });
  const { bytes: limit } = quotaOf(await tx.quotas.find(publisherId), everybody);
  if (limit >= unlimited) return;
  const used = await tx.quotas.bytes(publisherId);
  if (used > limit && used > before) throw tooManyBytes(before, limit, used - before);
}

const tooManyBytes = (used: number, limit: number, more: number): Refusal =>
  new Refusal(
    'forbidden',
    `This publisher has ${used} bytes in the store and may have ${limit}; these are ${more} more. ${advice}`,
  );

const advice = "Ask the store's administrator for room, who sets it by 'larder account quota'.";

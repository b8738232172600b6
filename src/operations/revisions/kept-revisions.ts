// Lists the revisions of a package with their channels, including withdrawn and deleted ones.
import type { KeptRevision, Withdrawal } from '#api/wire.ts';
import { timestamp } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import type { Release } from '#records/releases.ts';
import type { Revision } from '#records/revisions.ts';

/** The revisions below a number, newest first. */
export async function keptRevisions(
  records: Pick<Records, 'revisions' | 'releases'>,
  packageId: string,
  { before, limit, now }: { before: number; limit: number; now: Date },
): Promise<KeptRevision[]> {
  const [found, held] = await Promise.all([
    records.revisions.before(packageId, before, limit),
    records.releases.current(packageId, timestamp(now)),
  ]);
  const channels = Map.groupBy(held, ({ revision }) => revision);
  return found.map((one) => presentKept(one, channels.get(one.revision) ?? []));
}

/** A revision with the channels that hold it. */
export const presentKept = (one: Revision, held: readonly Release[]): KeptRevision => ({
  ...presentBriefly(one),
  channels: [...new Set(held.map(({ channel }) => channel))],
  withdrawn:
    one.withdrawnAt === null
      ? null
      : { when: one.withdrawnAt, who: one.withdrawnBy ?? '', reason: one.withdrawnBecause ?? '' },
});

/** The members of a revision in lists. */
export const presentBriefly = (one: Revision): Omit<KeptRevision, 'channels' | 'withdrawn'> => ({
  revision: one.revision,
  version: one.version,
  status: one.status,
  size: one.size,
  'sha3-384': one.sha3_384,
  'created-at': one.createdAt,
  'created-by': one.createdBy,
  deleted: presentDeleted(one),
});

/** The time, account and reason of a deletion; null if the revision is not deleted. */
const presentDeleted = ({ deletedAt, deletedBy, deletedBecause }: Revision): Withdrawal | null =>
  deletedAt === null ? null : { when: deletedAt, who: deletedBy ?? '', reason: deletedBecause ?? '' };

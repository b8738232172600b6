// Lists the revisions of a package with their channels, including withdrawn and deleted ones.
import type { KeptRevision, Withdrawal } from '#contract/wire.ts';
import { timestamp } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Release } from '#records/releases/releases.ts';
import type { Revision } from '#records/revisions/revisions.ts';

/** The revisions below a number, newest first. */
export async function readRevisionsWithChannels(
  records: Pick<StoreRecords, 'revisions' | 'releases'>,
  packageId: string,
  { before, limit, now }: { before: number; limit: number; now: Date },
): Promise<KeptRevision[]> {
  const [revisions, held] = await Promise.all([
    records.revisions.before(packageId, before, limit),
    records.releases.current(packageId, timestamp(now)),
  ]);
  const channels = Map.groupBy(held, ({ revision }) => revision);
  return revisions.map((revision) => presentRevisionWithChannels(revision, channels.get(revision.revision) ?? []));
}

/** A revision with the channels that hold it. */
export const presentRevisionWithChannels = (revision: Revision, held: readonly Release[]): KeptRevision => ({
  ...presentRevisionSummary(revision),
  channels: [...new Set(held.map(({ channel }) => channel))],
  withdrawn:
    revision.withdrawnAt === null
      ? null
      : { when: revision.withdrawnAt, who: revision.withdrawnBy ?? '', reason: revision.withdrawnBecause ?? '' },
});

/** The members of a revision in lists. */
export const presentRevisionSummary = (revision: Revision): Omit<KeptRevision, 'channels' | 'withdrawn'> => ({
  revision: revision.revision,
  version: revision.version,
  status: revision.status,
  size: revision.size,
  'sha3-384': revision.sha3_384,
  'created-at': revision.createdAt,
  'created-by': revision.createdBy,
  deleted: presentDeleted(revision),
});

/** The time, account and reason of a deletion; null if the revision is not deleted. */
const presentDeleted = ({ deletedAt, deletedBy, deletedBecause }: Revision): Withdrawal | null =>
  deletedAt === null ? null : { when: deletedAt, who: deletedBy ?? '', reason: deletedBecause ?? '' };

// Reads all details of a package, for administrators.
import type { ReadPackageResponse } from '#contract/wire.ts';
import { timestamp } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { presentRevisionSummary } from '../revisions/revisions-with-channels.ts';
import { presentHeldRevision, presentStorePackage } from '../store/present.ts';

/** Number of revisions, and of past releases, in the response. */
const maxNewest = 50;

export async function readPackageDetails(
  records: Pick<
    StoreRecords,
    'downloads' | 'tracks' | 'releases' | 'pastReleases' | 'revisions' | 'collaborators' | 'inventory' | 'accounts'
  >,
  subject: PublishedPackage,
  now: Date,
): Promise<ReadPackageResponse> {
  const { id } = subject;
  const [tracks, held, history, revisions, collaborators, figures, downloads] = await Promise.all([
    records.tracks.list(id),
    records.releases.current(id, timestamp(now)),
    records.pastReleases.newest(id, Number.MAX_SAFE_INTEGER, maxNewest),
    records.revisions.before(id, Number.MAX_SAFE_INTEGER, maxNewest),
    records.collaborators.list(id),
    records.inventory.figuresOf(id),
    records.downloads.of(id, now),
  ]);
  const released = await records.revisions.listOf(id, [...new Set(held.map(({ revision }) => revision))]);
  const versions = new Map(released.map(({ revision, version }) => [revision, version]));
  const people = await records.accounts.byIds(collaborators.map(({ accountId }) => accountId));
  return {
    ...presentStorePackage({
      ...subject,
      ...figures,
      private: subject.private ? 1 : 0,
      username: subject.publisher.username,
    }),
    downloads: { total: downloads.inAll, 'last-30-days': downloads.recent },
    title: subject.title,
    summary: subject.summary,
    license: subject.license,
    links: subject.links,
    tracks: tracks.map(({ name }) => name),
    collaborators: [...people.values()].map(({ id, username }) => ({ id, username })),
    'channel-map': held.map((release) => presentHeldRevision(release, versions.get(release.revision) ?? null)),
    'newest-revisions': revisions.map(presentRevisionSummary),
    history: history.map((past) => ({
      when: past.releasedAt,
      who: past.releasedBy,
      channel: past.channel,
      for: past.slot,
      revision: past.revision,
      before: past.before,
      progressive: { paused: past.paused, percentage: past.percentage },
    })),
  };
}

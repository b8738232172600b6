import { branchExpiry } from '#acts/releases/releases.ts';
import { operation } from '#http/operation.ts';
import { onSnapNamed, viewsReleases } from '#access/snap-access.ts';
import type { DashboardPastRelease } from '#contract/wire.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { PastRelease } from '#records/releases/past-releases.ts';
import { presentSnapRevision } from './present.ts';

/** The maximum and default number of entries per page. */
const maxEntries = 500;

export const dashboardReleases = operation({
  name: 'dashboard_releases',
  method: 'GET',
  path: '/api/v2/snaps/:name/releases',
  since: 0,
  summary: 'List all releases of a snap and its revisions, newest first, for the older publishing tools.',
  access: onSnapNamed(viewsReleases),
  errors: 'dashboard',
  query: 'DashboardReleasesQuery',
  response: 'DashboardReleasesResponse',

  async handle({ package: { id }, query, records, now }) {
    const [page, size] = [Number(query.page ?? '1'), Number(query.size ?? maxEntries)];
    if (page < 1) throw new Refusal('api-error', 'The first page is 1 at /page');
    if (size < 1 || size > maxEntries)
      throw new Refusal('api-error', `A page holds 1 to ${maxEntries} entries at /size`);
    const passedOver = (page - 1) * size;
    // The entries are numbered without gaps.
    const [last] = await records.pastReleases.newest(id, Number.MAX_SAFE_INTEGER, 1);
    const past = await records.pastReleases.newest(id, (last?.seq ?? 0) + 1 - passedOver, size);
    const revisions = await records.revisions.list(id, size, passedOver);
    return {
      releases: withExpiries(past, timestamp(now())).map(presentPast),
      revisions: revisions.map(presentSnapRevision),
    };
  },
});

/**
 * Adds an entry for the end of each branch that expired by `now`, if nothing was released to it since. The tools treat the first
 * entry of a channel as its current content.
 */
function withExpiries(past: PastRelease[], now: string): PastRelease[] {
  const seen = new Set<string>();
  const all = past.flatMap((release) => {
    const place = `${release.channel} ${release.slot}`;
    const isLatest = !seen.has(place);
    seen.add(place);
    const end = release.revision === null ? null : expiryOf(release);
    if (!isLatest || end === null || end > now) return [release];
    return [{ ...release, revision: null, percentage: null, paused: null, releasedAt: end }, release];
  });
  return all.sort((a, b) => (a.releasedAt < b.releasedAt ? 1 : a.releasedAt > b.releasedAt ? -1 : 0));
}

const expiryOf = ({ channel, expiresAt, releasedAt }: PastRelease): string | null =>
  expiresAt ?? branchExpiry(parseChannel(channel)!, releasedAt);

function presentPast(past: PastRelease): DashboardPastRelease {
  const { track, risk, branch, name } = parseChannel(past.channel)!;
  const { percentage, paused } = past;
  return {
    architecture: past.slot,
    branch,
    channel: name,
    'expiration-date': past.revision === null ? null : expiryOf(past),
    progressive: { paused, percentage, 'current-percentage': null },
    revision: past.revision,
    risk,
    track,
    when: past.releasedAt,
  };
}

import { snapsForDevice } from '#api/device-snaps.ts';
import { operation } from '#api/operation.ts';
import type { SnapInfoResponse } from '#api/wire.ts';
import { toldOf } from '#domain/catalog.ts';
import { parseChannel, risks, type Channel } from '#domain/channel.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import { askerOf } from './choosing.ts';
import { everyField, presentSnap, presentSnapRevision } from './served-snap.ts';

export const snapInfo = operation({
  name: 'snap_info',
  method: 'GET',
  path: '/v2/snaps/info/:name',
  since: 0,
  summary: 'Say what a snap is, and what its channels hold for the architecture of a device.',
  access: snapsForDevice,
  query: 'SnapInfoQuery',
  response: 'SnapInfoResponse',
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,

  async handle({ params, query, request, address, device, snaps, records, config, now }): Promise<SnapInfoResponse> {
    const snap = await snaps.named(params.name);
    const { architecture } = askerOf(request.headers, device, address, now());
    const wanted = query.architecture ?? architecture;
    const releases = snap === undefined ? [] : await records.releases.current(snap.id, timestamp(now()));
    const held = shownOf(releases, wanted, snap?.defaultTrack ?? 'latest');
    const fields = query.fields?.split(',') ?? everyField;
    const { base_url: baseUrl } = config.http;
    const map: SnapInfoResponse['channel-map'] = [];
    for (const { release, channel } of held) {
      const revision = await records.revisions.forDevices(release.packageId, release.revision);
      if (revision === undefined) continue;
      map.push({ ...presentSnapRevision(revision, fields, baseUrl), channel: presentChannel(release, channel) });
    }
    if (snap === undefined || map.length === 0) throw notThere(params.name);
    return {
      name: snap.name,
      'snap-id': snap.id,
      snap: presentSnap(snap, fields, baseUrl),
      ...tracked(snap),
      'channel-map': map,
    };
  },
});

const tracked = ({ defaultTrack }: PublishedPackage) => ({ 'default-track': defaultTrack });

const notThere = (name: string): Refusal =>
  new Refusal('resource-not-found', `There is no snap named '${name.slice(0, 64)}'.`);

interface Shown {
  release: Release;
  channel: Channel;
}

/**
 * What the channels hold for an architecture, branches and what is on its way to a part of the devices left out: the default
 * track first, since the first is what a device shows, then each by its risk, the most stable first.
 */
function shownOf(releases: readonly Release[], architecture: string, defaultTrack: string): Shown[] {
  const shown = toldOf(releases)
    .filter(({ architecture: its }) => [architecture, 'all', null].includes(its))
    .map((release) => ({ release, channel: parseChannel(release.channel)! }));
  const rank = ({ channel: { track, risk } }: Shown): string =>
    [track === defaultTrack ? 0 : track === 'latest' ? 1 : 2, track, risks.indexOf(risk)].join(' ');
  return shown.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

const presentChannel = ({ architecture, releasedAt }: Release, { track, risk }: Channel) => ({
  architecture: architecture ?? 'all',
  name: track === 'latest' ? risk : `${track}/${risk}`,
  risk,
  track,
  'released-at': releasedAt,
});

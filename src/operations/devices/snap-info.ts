import { snapsForDevice } from '#access/device-snaps.ts';
import { operation } from '#http/operation.ts';
import { privateNoStore, notModified, varyByArchitecture, respondRevalidated } from '#http/response/revalidation.ts';
import { json } from '#http/response/outgoing-response.ts';
import type { SnapInfoResponse } from '#contract/wire.ts';
import { orderPublicReleases } from '#domain/packages/snap-catalog.ts';
import { unexpired } from '#domain/releases/channel-map.ts';
import type { Channel } from '#domain/releases/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import { channelsFor, readDeviceContext } from './choose-revision.ts';
import { findComponents } from './components.ts';
import { everyField, presentSnap, presentSnapRevision } from './served-snap.ts';

export const snapInfo = operation({
  name: 'snap_info',
  method: 'GET',
  path: '/v2/snaps/info/:name',
  since: 0,
  summary: 'Get a snap, with the revisions in its channels for the architecture of the device.',
  access: snapsForDevice,
  query: 'SnapInfoQuery',
  response: 'SnapInfoResponse',
  headers: ['etag', 'vary'],
  also: notModified,
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,

  async handle({ params, query, request, address, device, snaps, records, config, now }) {
    const visibleSnap = await snaps.findByName(params.name);
    if (visibleSnap === undefined) throw notThere(params.name);
    const { snap, reach } = visibleSnap;
    const { architecture, at } = readDeviceContext(request.headers, device, address, now());
    const requestedArchitecture = query.architecture ?? architecture;
    const held = unexpired(await records.releases.held(snap.id), at);
    const releases = channelsFor(visibleSnap, held, { architecture: requestedArchitecture });
    const fitting = releases.filter(({ architecture: its }) => [requestedArchitecture, 'all', null].includes(its));
    const fields = query.fields?.split(',') ?? everyField;
    const { base_url: baseUrl } = config.http;
    const map: SnapInfoResponse['channel-map'] = [];
    for (const { held, channel } of orderPublicReleases(fitting, snap.defaultTrack)) {
      const revision = await records.revisions.forDevices(held.packageId, held.revision);
      if (revision === undefined) continue;
      const components = fields.includes('resources')
        ? await findComponents(revision, { released: held.resources, reach }, records, baseUrl)
        : undefined;
      map.push({
        ...presentSnapRevision(revision, fields, baseUrl),
        ...(components !== undefined && { resources: components }),
        channel: presentChannel(held, channel),
      });
    }
    if (map.length === 0) throw notThere(params.name);
    const answer: SnapInfoResponse = {
      name: snap.name,
      'snap-id': snap.id,
      snap: presentSnap(snap, fields, baseUrl),
      ...tracked(snap),
      'channel-map': map,
    };
    const headers = { ...json, vary: varyByArchitecture, ...(snap.private && privateNoStore) };
    return respondRevalidated(request, JSON.stringify(answer), 60, headers);
  },
});

const tracked = ({ defaultTrack }: PublishedPackage) => ({ 'default-track': defaultTrack });

const notThere = (name: string): Refusal =>
  new Refusal('resource-not-found', `There is no snap named '${name.slice(0, 64)}'.`);

const presentChannel = (
  { architecture, releasedAt }: Pick<Release, 'architecture' | 'releasedAt'>,
  { track, risk }: Channel,
) => ({
  architecture: architecture ?? 'all',
  name: track === 'latest' ? risk : `${track}/${risk}`,
  risk,
  track,
  'released-at': releasedAt,
});

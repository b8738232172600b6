import { snapsForDevice } from '#api/device-snaps.ts';
import { operation } from '#api/operation.ts';
import { forOneAlone, notModified, ofArchitecture, revalidated } from '#api/revalidated.ts';
import { json } from '#api/sent.ts';
import type { SnapInfoResponse } from '#api/wire.ts';
import { listed } from '#domain/catalog.ts';
import { unexpired } from '#domain/channel-map.ts';
import type { Channel } from '#domain/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import { askerOf } from './choosing.ts';
import { componentsOf } from './components.ts';
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
  headers: ['etag', 'vary'],
  also: notModified,
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,

  async handle({ params, query, request, address, device, snaps, records, config, now }) {
    const snap = await snaps.named(params.name);
    const { architecture, at } = askerOf(request.headers, device, address, now());
    const wanted = query.architecture ?? architecture;
    const releases = snap === undefined ? [] : unexpired(await records.releases.held(snap.id), at);
    const fitting = releases.filter(({ architecture: its }) => [wanted, 'all', null].includes(its));
    const fields = query.fields?.split(',') ?? everyField;
    const { base_url: baseUrl } = config.http;
    const map: SnapInfoResponse['channel-map'] = [];
    for (const { held, channel } of listed(fitting, snap?.defaultTrack ?? null)) {
      const revision = await records.revisions.forDevices(held.packageId, held.revision);
      if (revision === undefined) continue;
      const components = fields.includes('resources')
        ? await componentsOf(revision, held.resources, records, baseUrl)
        : undefined;
      map.push({
        ...presentSnapRevision(revision, fields, baseUrl),
        ...(components !== undefined && { resources: components }),
        channel: presentChannel(held, channel),
      });
    }
    if (snap === undefined || map.length === 0) throw notThere(params.name);
    const answer: SnapInfoResponse = {
      name: snap.name,
      'snap-id': snap.id,
      snap: presentSnap(snap, fields, baseUrl),
      ...tracked(snap),
      'channel-map': map,
    };
    const kept = { ...json, vary: ofArchitecture, ...(snap.private && forOneAlone) };
    return revalidated(request, JSON.stringify(answer), 60, kept);
  },
});

const tracked = ({ defaultTrack }: PublishedPackage) => ({ 'default-track': defaultTrack });

const notThere = (name: string): Refusal =>
  new Refusal('resource-not-found', `There is no snap named '${name.slice(0, 64)}'.`);

const presentChannel = ({ architecture, releasedAt }: Release, { track, risk }: Channel) => ({
  architecture: architecture ?? 'all',
  name: track === 'latest' ? risk : `${track}/${risk}`,
  risk,
  track,
  'released-at': releasedAt,
});

import { operation } from '#http/operation.ts';
import { onSnapNamed, viewsReleases } from '#access/snap-access.ts';
import type { Channel } from '#domain/releases/channel.ts';
import { timestamp } from '#domain/clock.ts';
import { channelsOf, presentChannel } from '../releases/present.ts';
import { presentSnapRevision } from './present.ts';

export const dashboardChannelMap = operation({
  name: 'dashboard_channel_map',
  method: 'GET',
  path: '/api/v2/snaps/:name/channel-map',
  since: 0,
  summary: 'Get the channel map and the tracks of a snap, for the older publishing tools.',
  access: onSnapNamed(viewsReleases),
  errors: 'dashboard',
  response: 'DashboardChannelMapResponse',

  async handle({ package: subject, records, now }) {
    const { id, name, defaultTrack } = subject;
    const tracks = await records.tracks.list(id);
    const releases = await records.releases.current(id, timestamp(now()));
    const channels = channelsOf(
      tracks.map((track) => track.name),
      releases,
    );
    const order = new Map(channels.map((channel, at) => [channel.name, at]));
    releases.sort((a, b) => (order.get(a.channel) ?? 0) - (order.get(b.channel) ?? 0));
    const numbers = [...new Set(releases.map(({ revision }) => revision))];
    return {
      'channel-map': releases.map((release) => ({
        architecture: release.slot,
        channel: release.channel,
        'expiration-date': release.expiresAt,
        progressive: { ...release.progressive, 'current-percentage': null },
        revision: release.revision,
        when: release.releasedAt,
      })),
      revisions: (await records.revisions.listOf(id, numbers)).map(presentSnapRevision),
      snap: {
        id,
        name,
        private: subject.private,
        'default-track': defaultTrack,
        channels: inReadersOrder(channels).map(presentChannel),
        tracks: tracks.map((track) => ({
          name: track.name,
          status: track.name === defaultTrack ? ('default' as const) : ('active' as const),
          'creation-date': track.createdAt,
          'version-pattern': track.versionPattern,
        })),
      },
    };
  },
});

/**
 * The order that the tools need: they insert each channel directly behind its fallback, one after the other. Risks come first so
 * that no branch is separated from its risk, then the branches in reverse.
 */
const inReadersOrder = (channels: readonly Channel[]): Channel[] => [
  ...channels.filter(({ branch }) => branch === null),
  ...channels.filter(({ branch }) => branch !== null).reverse(),
];

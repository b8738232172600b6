// Presents the channel map of a snap as a tree of tracks, series and architectures.
import type { Services } from '#http/services.ts';
import type { DashboardChannel, DashboardChannelMapTree } from '#contract/wire.ts';
import { channel, fallback, parseChannel, risks, type Channel } from '#domain/releases/channel.ts';
import { isProgressive } from '#domain/releases/channel-map.ts';
import { timestamp } from '#domain/clock.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';

/** The number of newest revisions that determine the architectures of a snap. */
const newest = 500;

/**
 * Lists the four risks and the open branches under each architecture. A track lists the architectures that have releases in it; an
 * empty track lists the architectures of the snap, so that the tools show its channels as empty.
 */
export async function channelMapTree(
  { id }: PublishedPackage,
  { records, now }: Pick<Services, 'records' | 'now'>,
): Promise<DashboardChannelMapTree> {
  const tracks = await records.tracks.list(id);
  const releases = await records.releases.current(id, timestamp(now()));
  const numbers = [...new Set(releases.map(({ revision }) => revision))];
  const versions = new Map((await records.revisions.listOf(id, numbers)).map((row) => [row.revision, row.version]));
  const built = new Set(
    (await records.revisions.list(id, newest)).flatMap(({ details }) => details.architectures ?? ['all']),
  );
  const placed = releases.map((release) => ({ release, channel: parseChannel(release.channel)! }));
  return Object.fromEntries(
    tracks.map(({ name: track }) => {
      const inTrack = placed.filter((item) => item.channel.track === track);
      const released = new Set(inTrack.map(({ release }) => release.slot));
      const architectures = [...(released.size > 0 ? released : built)].sort();
      const channelsFor = (architecture: string): DashboardChannel[] => {
        const held = inTrack.filter(({ release }) => release.slot === architecture);
        return channelsIn(track, held).map((target) => entry(target, held, versions));
      };
      return [
        track,
        { '16': Object.fromEntries(architectures.map((architecture) => [architecture, channelsFor(architecture)])) },
      ];
    }),
  );
}

interface DashboardChannelRelease {
  release: Release;
  channel: Channel;
}

/** The four risks of a track, then its open branches. */
function channelsIn(track: string, held: DashboardChannelRelease[]): Channel[] {
  const branches = new Map(
    held.filter((item) => item.channel.branch !== null).map((item) => [item.channel.name, item.channel]),
  );
  return [...risks.map((risk) => channel(track, risk)), ...branches.values()];
}

/** One channel. A progressive release is a separate member and does not count as the content of the channel. */
function entry(of: Channel, held: DashboardChannelRelease[], versions: Map<number, string>): DashboardChannel {
  const releases = held.filter((item) => item.channel.name === of.name).map(({ release }) => release);
  const ordinary = releases.find((release) => !isProgressive(release.progressive));
  const over = releases.find((release) => isProgressive(release.progressive));
  const version = ({ revision }: Release): string => versions.get(revision) ?? '';
  const { risk, branch } = of;
  return {
    channel: branch === null ? risk : `${risk}/${branch}`,
    ...(ordinary === undefined
      ? { info: isTracking(of, held) ? 'tracking' : 'none' }
      : { info: branch === null ? 'specific' : 'branch', revision: ordinary.revision, version: version(ordinary) }),
    ...(branch !== null && { expires_at: releases[0]?.expiresAt ?? null }),
    ...(over !== undefined && {
      progressive: { revision: over.revision, version: version(over), ...over.progressive },
    }),
  };
}

/** Whether a safer channel holds a revision; devices that ask for this channel get that one. */
function isTracking(of: Channel, held: DashboardChannelRelease[]): boolean {
  for (let name = fallback(of); name !== null;) {
    const safer = name;
    if (held.some(({ release }) => release.channel === safer && !isProgressive(release.progressive))) return true;
    const next = parseChannel(safer);
    name = next === undefined ? null : fallback(next);
  }
  return false;
}

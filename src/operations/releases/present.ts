import type {
  ArchitectureReleaseEntry,
  BaseReleaseEntry,
  ChannelReleaseEntry,
  ChannelWithFallback,
  CraftReleaseEntry,
} from '#contract/wire.ts';
import { channel, fallback, parseChannel, risks, type Channel } from '#domain/releases/channel.ts';
import type { PackageNamespace } from '#domain/packages/namespace.ts';
import type { Release } from '#records/releases/releases.ts';

/** A release in the form of its namespace. */
export function presentRelease(
  release: Release,
  namespace: PackageNamespace,
): BaseReleaseEntry | ArchitectureReleaseEntry | ChannelReleaseEntry {
  const entry = {
    channel: release.channel,
    'expiration-date': release.expiresAt,
    revision: release.revision,
    when: release.releasedAt,
  };
  switch (namespace) {
    case 'snap':
      return { ...entry, architecture: release.architecture ?? 'all', progressive: release.progressive };
    case 'bin':
    case 'rock':
      return entry;
    default: {
      const { architecture, baseName: name, baseChannel } = release;
      const base =
        architecture === null || name === null || baseChannel === null
          ? null
          : { architecture, channel: baseChannel, name };
      return { ...entry, base, progressive: release.progressive, resources: release.resources };
    }
  }
}

/** A release with the commit that the revision was built from; empty if the commit is unknown. */
export const presentCraftRelease = (release: Release, commit: string | undefined): CraftReleaseEntry[] =>
  commit === undefined
    ? []
    : [
        {
          channel: release.channel,
          commit,
          'expiration-date': release.expiresAt,
          revision: release.revision,
          when: release.releasedAt,
        },
      ];

/** All channels of a package: each track with its four risks, and open branches after their risk. */
export function channelsOf(tracks: string[], releases: Release[]): Channel[] {
  const open = [...new Set(releases.map((release) => release.channel))]
    .map(parseChannel)
    .filter((parsed) => parsed !== undefined && parsed.branch !== null) as Channel[];
  return tracks.flatMap((track) =>
    risks.flatMap((risk) => [
      channel(track, risk),
      ...open.filter((branch) => branch.track === track && branch.risk === risk),
    ]),
  );
}

export const presentChannel = (subject: Channel): ChannelWithFallback => ({
  branch: subject.branch,
  fallback: fallback(subject),
  name: subject.name,
  risk: subject.risk,
  track: subject.track,
});

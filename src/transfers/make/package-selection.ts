// Selects the releases that match a subscription.
import { fallback, parseChannel } from '#domain/releases/channel.ts';
import type { Release } from '#records/releases/releases.ts';

/** Channels and architectures of a package; undefined selects all. */
export interface PackageSelection {
  channels?: ReadonlySet<string>;
  architectures?: ReadonlySet<string>;
}

/** Returns the matching releases. If a channel is empty, uses the next safer channel that has a release, as devices do. */
export function selectReleases(held: readonly Release[], { channels, architectures }: PackageSelection): Release[] {
  const fitting = held.filter(
    ({ architecture }) =>
      architecture === null || architecture === 'all' || architectures === undefined || architectures.has(architecture),
  );
  if (channels === undefined) return fitting;
  const filledChannels = new Set([...channels].map((name) => filled(name, fitting)));
  return fitting.filter(({ channel }) => filledChannels.has(channel));
}

function filled(name: string, held: readonly Release[]): string | undefined {
  for (let at: string | null = name; at !== null;) {
    if (held.some(({ channel }) => channel === at)) return at;
    const parsed = parseChannel(at);
    at = parsed === undefined ? null : fallback(parsed);
  }
  return undefined;
}

/** Whether a channel or a track matches. A transfer includes tracks and closed channels only if the subscription does. */
export const isSelectedChannel = ({ channels }: PackageSelection, channel: string): boolean =>
  channels === undefined || channels.has(channel);
export const isSelectedTrack = ({ channels }: PackageSelection, track: string): boolean =>
  channels === undefined || [...channels].some((channel) => channel.startsWith(`${track}/`));

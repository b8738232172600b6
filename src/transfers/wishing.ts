// What of a package's channels is wished for.
import { fallback, parseChannel } from '#domain/channel.ts';
import type { Release } from '#records/releases.ts';

/** Of a package, these channels for these architectures; nothing said stands for all. */
export interface PackageWish {
  channels?: ReadonlySet<string>;
  architectures?: ReadonlySet<string>;
}

/** What is held of that. A channel that holds nothing gives what the next safer one holds, as devices find it. */
export function wishedOf(held: readonly Release[], { channels, architectures }: PackageWish): Release[] {
  const fitting = held.filter(
    ({ architecture }) =>
      architecture === null || architecture === 'all' || architectures === undefined || architectures.has(architecture),
  );
  if (channels === undefined) return fitting;
  const found = new Set([...channels].map((name) => filled(name, fitting)));
  return fitting.filter(({ channel }) => found.has(channel));
}

function filled(name: string, held: readonly Release[]): string | undefined {
  for (let at: string | null = name; at !== null;) {
    if (held.some(({ channel }) => channel === at)) return at;
    const parsed = parseChannel(at);
    at = parsed === undefined ? null : fallback(parsed);
  }
  return undefined;
}

/** Tracks and closed channels are told where they are wished for. */
export const isOfWish = ({ channels }: PackageWish, channel: string): boolean =>
  channels === undefined || channels.has(channel);
export const isTrackOfWish = ({ channels }: PackageWish, track: string): boolean =>
  channels === undefined || [...channels].some((channel) => channel.startsWith(`${track}/`));

// The principal: the account a token stands for, and how far that token reaches.
import { coversChannel, type Channel, type ChannelPattern } from './channel.ts';
import type { Permission } from './permission.ts';
import { selects, type PackageSelector } from './selector.ts';

/**
 * What a token's caveats leave of its account's rights.
 * `null` is unrestricted. Each caveat of a kind adds a list; something is allowed when every list allows it.
 */
export interface Restrictions {
  permissions: Permission[] | null;
  channels: ChannelPattern[][] | null;
  packages: PackageSelector[][] | null;
}

export interface Principal extends Restrictions {
  accountId: string;
  username: string;
  displayName: string;
  email: string;
  validation: string;
  storeAdministrator: boolean;
  sessionId: string;
  /** When the token ends: milliseconds since the epoch. */
  until: number;
}

/** Whether the token may touch this package. */
export const reachesPackage = (
  token: Pick<Restrictions, 'packages'>,
  subject: { type: string; id?: string; name: string },
): boolean =>
  token.packages === null || token.packages.every((list) => list.some((selector) => selects(selector, subject)));

/** Whether the token may release to this channel. */
export const reachesChannel = (token: Restrictions, channel: Channel): boolean =>
  token.channels === null || token.channels.every((list) => list.some((pattern) => coversChannel(pattern, channel)));

/** The channels that a token names, for showing. */
export const shownChannels = ({ channels }: Restrictions): string[] | null =>
  inCommon(channels?.map((list) => list.map(({ text }) => text)) ?? null);

/** Whether the token may list and end the other tokens of its account: a narrowed one that leaked must not. */
export const reachesOtherSessions = ({ permissions, channels, packages }: Restrictions): boolean =>
  packages === null && channels === null && (permissions === null || permissions.includes('account-manage-metadata'));

/**
 * The lists as one list, for showing: what every list names in the same words.
 * Lists that say the same thing in other words (an id here, a name there) still bind together when enforced.
 */
export function inCommon<Item>(lists: Item[][] | null): Item[] | null {
  if (lists === null) return null;
  const [first = [], ...others] = lists;
  const words = others.map((list) => new Set(list.map((item) => JSON.stringify(item))));
  return first.filter((item) => words.every((seen) => seen.has(JSON.stringify(item))));
}

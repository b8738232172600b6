// The principal: the account behind a token, with the limits of the token.
import { coversChannel, type Channel, type ChannelPattern } from '../releases/channel.ts';
import type { Permission } from './permission.ts';
import { selects, type PackageSelector } from './package-selector.ts';

/**
 * The limits that a token's caveats set. `null` means unrestricted. Each caveat of a kind adds a list; an action must
 * be allowed by every list.
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
  /** When the token expires, in milliseconds since the epoch. */
  until: number;
}

/** Whether the token covers a package. */
export const reachesPackage = (
  token: Pick<Restrictions, 'packages'>,
  subject: { type: string; id?: string; name: string },
): boolean =>
  token.packages === null || token.packages.every((list) => list.some((selector) => selects(selector, subject)));

/** Whether the token may release to a channel. */
export const reachesChannel = (token: Restrictions, channel: Channel): boolean =>
  token.channels === null || token.channels.every((list) => list.some((pattern) => coversChannel(pattern, channel)));

/** The channels of a token, for display. */
export const shownChannels = ({ channels }: Restrictions): string[] | null =>
  inCommon(channels?.map((list) => list.map(({ text }) => text)) ?? null);

/**
 * Whether the token may list and end other tokens of its account. An attenuated token must not, because it could have
 * leaked.
 */
export const reachesOtherSessions = ({ permissions, channels, packages }: Restrictions): boolean =>
  packages === null && channels === null && (permissions === null || permissions.includes('account-manage-metadata'));

/**
 * Merges the lists for display: the items that occur in every list in the same form. Items that mean the same in
 * different form (an id here, a name there) are dropped here, but all lists still apply when enforced.
 */
export function inCommon<Item>(lists: Item[][] | null): Item[] | null {
  if (lists === null) return null;
  const [first = [], ...others] = lists;
  const words = others.map((list) => new Set(list.map((item) => JSON.stringify(item))));
  return first.filter((item) => words.every((seen) => seen.has(JSON.stringify(item))));
}

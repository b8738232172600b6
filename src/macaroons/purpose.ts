// What a login is for, inside the condition of its caveat: sealed for the identity provider alone, it comes back with
// the caveat, so that it is known however many other logins were begun since, and nobody else can word it.
import { bytesFromBase64, textFromBytes, valueFromJson } from './codec/encoding.ts';

/** What a login is for, to be shown to whoever is asked to log in. */
export interface Purpose {
  /** What its client calls itself; cut off when it is long. */
  description: string | null;
  permissions: readonly string[] | null;
  /** The first of the channels that it is restricted to; null when it is not. */
  channels: readonly string[] | null;
  /** How many channels there are besides. */
  moreChannels: number;
  /** How many packages it is restricted to; null when it is not. */
  packages: number | null;
  until: Date;
}

export interface ToTell extends Omit<Purpose, 'channels' | 'moreChannels'> {
  channels: readonly string[] | null;
}

/** The condition with a purpose before it. Everything in it is bounded, because tokens are. */
export function withPurpose(
  condition: string,
  { description, permissions, channels, packages, until }: ToTell,
): string {
  const shown = channels?.slice(0, channelsShown) ?? null;
  const members = [cutOff(description), permissions, shown, (channels?.length ?? 0) - (shown?.length ?? 0), packages];
  const text = JSON.stringify([...members, until.getTime()]);
  return `${prefix}${Buffer.from(text).toString('base64url')} ${condition}`;
}

/** The condition and the purpose before it, where there is one. Only to be believed of a caveat of our own. */
export function readPurpose(text: string): { condition: string; purpose: Purpose | undefined } {
  if (!text.startsWith(prefix)) return { condition: text, purpose: undefined };
  const space = text.indexOf(' ', prefix.length);
  const bytes = bytesFromBase64(text.slice(prefix.length, space));
  const value = bytes && valueFromJson(textFromBytes(bytes) ?? '');
  if (space < 0 || !Array.isArray(value)) return { condition: text, purpose: undefined };
  const [description, permissions, channels, moreChannels, packages, until] = value as Told;
  const purpose = { description, permissions, channels, moreChannels, packages, until: new Date(until) };
  return { condition: text.slice(space + 1), purpose };
}

type Told = [string | null, string[] | null, string[] | null, number, number | null, number];

const prefix = 'for-login ';
const channelsShown = 10;
const longestDescription = 200;

const cutOff = (text: string | null): string | null => {
  const signs = Array.from(text ?? '');
  return signs.length <= longestDescription ? text : `${signs.slice(0, longestDescription).join('')}…`;
};

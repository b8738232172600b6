// The purpose of a login (permissions, channels, end), for the page that asks for the password. The store writes it into the
// third-party caveat of the login, encrypted for the identity provider. So it cannot be forged, and the store keeps no list of logins.
import { bytesFromBase64, textFromBytes, valueFromJson } from './codec/encoding.ts';

/** The purpose of a login, shown to the person who is asked to log in. */
export interface LoginPurpose {
  /** The description by the client; truncated if it is long. */
  description: string | null;
  permissions: readonly string[] | null;
  /** The first of the channels that it is restricted to; null if it is not restricted. */
  channels: readonly string[] | null;
  /** How many more channels there are. */
  moreChannels: number;
  /** How many packages it is restricted to; null if it is not restricted. */
  packages: number | null;
  until: Date;
}

export interface PurposeInput extends Omit<LoginPurpose, 'channels' | 'moreChannels'> {
  channels: readonly string[] | null;
}

/** Writes a purpose in front of a condition. Truncates a long description and a long list of channels, because the size of tokens is limited. */
export function withPurpose(
  condition: string,
  { description, permissions, channels, packages, until }: PurposeInput,
): string {
  const shown = channels?.slice(0, channelsShown) ?? null;
  const members = [cutOff(description), permissions, shown, (channels?.length ?? 0) - (shown?.length ?? 0), packages];
  const text = JSON.stringify([...members, until.getTime()]);
  return `${prefix}${Buffer.from(text).toString('base64url')} ${condition}`;
}

/** Splits a condition from the purpose in front of it, if there is one. Trust the purpose only in a caveat of this store. */
export function readPurpose(text: string): { condition: string; purpose: LoginPurpose | undefined } {
  if (!text.startsWith(prefix)) return { condition: text, purpose: undefined };
  const space = text.indexOf(' ', prefix.length);
  const bytes = bytesFromBase64(text.slice(prefix.length, space));
  const value = bytes && valueFromJson(textFromBytes(bytes) ?? '');
  if (space < 0 || !Array.isArray(value)) return { condition: text, purpose: undefined };
  const [description, permissions, channels, moreChannels, packages, until] = value as PurposeMembers;
  const purpose = { description, permissions, channels, moreChannels, packages, until: new Date(until) };
  return { condition: text.slice(space + 1), purpose };
}

type PurposeMembers = [string | null, string[] | null, string[] | null, number, number | null, number];

const prefix = 'for-login ';
const channelsShown = 10;
const longestDescription = 200;

const cutOff = (text: string | null): string | null => {
  const signs = Array.from(text ?? '');
  return signs.length <= longestDescription ? text : `${signs.slice(0, longestDescription).join('')}…`;
};

// Channels as command lines name them.
import { parseChannel, type Channel } from '#domain/channel.ts';
import { UsageError } from '../frame/command.ts';

/** The channel that an argument names. */
export function channelNamed(text: string): Channel {
  const channel = parseChannel(text);
  if (channel !== undefined) return channel;
  throw new UsageError(`'${text}' is not a channel; write risk, track/risk or track/risk/branch`);
}

/** The channels of arguments that name one each, or several with commas between them, as publishing tools take them. */
export function channelsNamed(texts: readonly string[]): Channel[] {
  const named = texts.flatMap((text) => text.split(',')).map((text) => channelNamed(text.trim()));
  return [...new Map(named.map((channel) => [channel.name, channel])).values()];
}

// Parses channels on command lines.
import { parseChannel, type Channel } from '#domain/channel.ts';
import { UsageError } from '../frame/command.ts';

/** Parses the channel of an argument. */
export function channelNamed(text: string): Channel {
  const channel = parseChannel(text);
  if (channel !== undefined) return channel;
  throw new UsageError(`'${text}' is not a channel; write risk, track/risk or track/risk/branch`);
}

/** Parses arguments with one or more channels each, separated by commas as in publishing tools. */
export function channelsNamed(texts: readonly string[]): Channel[] {
  const named = texts.flatMap((text) => text.split(',')).map((text) => channelNamed(text.trim()));
  return [...new Map(named.map((channel) => [channel.name, channel])).values()];
}

// Parses channels on command lines.
import { parseChannel, type Channel } from '#domain/releases/channel.ts';
import { UsageError } from '../frame/command.ts';

/** Parses the channel of an argument. */
export function parseChannelArgument(text: string): Channel {
  const channel = parseChannel(text);
  if (channel !== undefined) return channel;
  throw new UsageError(`'${text}' is not a channel; write risk, track/risk or track/risk/branch`);
}

/** Parses arguments with one or more channels each, separated by commas as in publishing tools. */
export function parseChannelArguments(texts: readonly string[]): Channel[] {
  const channels = texts.flatMap((text) => text.split(',')).map((text) => parseChannelArgument(text.trim()));
  return [...new Map(channels.map((channel) => [channel.name, channel])).values()];
}

// Channel renamings of a transfer, such as `stable=stable/site-test`.
import { parseChannel, risks } from '../releases/channel.ts';

/** The original and the new channel. Applies to every track if neither names one. */
export interface ChannelRenaming {
  from: string;
  to: string;
}

const namesTrack = (text: string): boolean => !risks.some((risk) => risk === text.split('/')[0]);

/** Parses `FROM=TO`, if both name a track or neither does; undefined for any other text. */
export function readRenaming(text: string): ChannelRenaming | undefined {
  const [from = '', to = '', ...others] = text.split('=');
  const areChannels = parseChannel(from) !== undefined && parseChannel(to) !== undefined;
  return areChannels && others.length === 0 && namesTrack(from) === namesTrack(to) ? { from, to } : undefined;
}

/** Applies the first renaming that matches a channel. */
export function renameChannel(name: string, renamings: readonly ChannelRenaming[]): string {
  const channel = parseChannel(name);
  if (channel === undefined) return name;
  for (const { from, to } of renamings) {
    const isOfAll = !namesTrack(from);
    const placed = (text: string): string | undefined =>
      parseChannel(isOfAll ? `${channel.track}/${text}` : text)?.name;
    if (placed(from) === channel.name) return placed(to) ?? name;
  }
  return name;
}

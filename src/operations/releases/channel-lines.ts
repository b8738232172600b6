// What a package's channels hold, line by line as publishing tools show it.
import type { Channel } from '#domain/channel.ts';
import { isProgressive } from '#domain/channel-map.ts';
import type { Release } from '#records/releases.ts';
import { channelsOf } from './present.ts';

/** One line: a channel for one architecture or base. A progressive release is a line of its own under the ordinary one. */
export interface ChannelLine {
  channel: Channel;
  /** An architecture, or a base with its architecture; `*` where a channel holds one revision for everybody. */
  slot: string;
  /** What is released there; nothing in the line of a channel that holds nothing for everybody. */
  release: Release | undefined;
  /** Whether the channel gets what a safer one holds, where it holds nothing itself. */
  follows: boolean;
  /** The progressive release over it, in the line of what the others have. */
  over: Release | undefined;
}

/** The lines of a track by what it is made for and by risk, branches after their risk; none where nothing is released in it. */
export function channelLines(track: string, held: readonly Release[]): ChannelLine[] {
  const all = channelsOf([track], [...held]);
  const names = new Set(all.map(({ name }) => name));
  const here = held.filter(({ channel }) => names.has(channel));
  const slots = [...new Set(here.map(({ slot }) => slot))].sort();
  return slots.flatMap((slot) => {
    const ofSlot = here.filter((one) => one.slot === slot);
    let follows = false;
    return all.flatMap((channel) => {
      const inChannel = ofSlot.filter((one) => one.channel === channel.name);
      const lines = linesOf(channel, slot, inChannel, follows);
      // A riskier channel follows as soon as one before it holds anything, be it for a part of the devices alone.
      if (channel.branch === null && inChannel.length > 0) follows = true;
      return lines;
    });
  });
}

function linesOf(channel: Channel, slot: string, held: readonly Release[], follows: boolean): ChannelLine[] {
  const over = held.find(({ progressive }) => isProgressive(progressive));
  const whole = held.find(({ progressive }) => !isProgressive(progressive));
  const lines: ChannelLine[] = [];
  if (whole !== undefined || channel.branch === null)
    lines.push({ channel, slot, release: whole, follows: whole === undefined && follows, over });
  if (over !== undefined) lines.push({ channel, slot, release: over, follows: false, over: undefined });
  return lines;
}

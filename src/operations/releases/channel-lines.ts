// Lists the content of a package's channels as lines, as publishing tools show it.
import type { Channel } from '#domain/releases/channel.ts';
import { isProgressive } from '#domain/releases/channel-map.ts';
import type { Release } from '#records/releases/releases.ts';
import { channelsOf } from './present.ts';

/** A line: a channel for one architecture or base. A progressive release has its own line below the ordinary one. */
export interface ChannelLine {
  channel: Channel;
  /** An architecture, or a base with its architecture; `*` if the channel holds one revision for all devices. */
  slot: string;
  /** The release; undefined if the channel holds none for all devices. */
  release: Release | undefined;
  /** Whether an empty channel gets the content of a safer one. */
  follows: boolean;
  /** The progressive release of the channel, in the line of the ordinary release. */
  over: Release | undefined;
}

/** The lines of a track by slot and by risk, branches after their risk; empty if the track has no releases. */
export function channelLines(track: string, held: readonly Release[]): ChannelLine[] {
  const all = channelsOf([track], [...held]);
  const names = new Set(all.map(({ name }) => name));
  const inTrack = held.filter(({ channel }) => names.has(channel));
  const slots = [...new Set(inTrack.map(({ slot }) => slot))].sort();
  return slots.flatMap((slot) => {
    const ofSlot = inTrack.filter((release) => release.slot === slot);
    let follows = false;
    return all.flatMap((channel) => {
      const inChannel = ofSlot.filter((release) => release.channel === channel.name);
      const lines = linesOf(channel, slot, inChannel, follows);
      // A riskier channel follows if a safer one holds any release, even only a progressive one.
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

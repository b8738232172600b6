// The lines of a release for approvers.
import { channelLine, type Line } from '#domain/approvals.ts';
import { slotText } from '#domain/release-text.ts';
import type { Changes } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';

/** The line of one slot of a channel. */
export const slotLine = (
  subject: Pick<PublishedPackage, 'namespace' | 'name'>,
  channel: string,
  slot: string,
  change: Pick<Line, 'from' | 'to'>,
): Line => channelLine(subject, { channel, part: slot === '*' ? null : slot, ...change });

/** Whether two releases are in the same slot of the same channel. */
export const isSameSlot = (one: Pick<Release, 'channel' | 'slot'>, other: Pick<Release, 'channel' | 'slot'>): boolean =>
  one.channel === other.channel && one.slot === other.slot;

/** Whether the channels in the lines of a proposal hold the same content as when it was proposed. */
export async function stillHold(tx: Changes, lines: readonly Line[], at: string): Promise<boolean> {
  const channels = new Map<string, Release[]>();
  for (const { kind, on, part, from } of lines) {
    if (kind !== 'releases') continue;
    const held = channels.get(on) ?? (await inChannel(tx, on, at));
    channels.set(on, held);
    if (slotText(held.filter(({ slot }) => slot === (part ?? '*'))) !== from) return false;
  }
  return true;
}

async function inChannel(tx: Changes, on: string, at: string): Promise<Release[]> {
  const [subject = '', channel = ''] = on.split(':');
  const [namespace = '', name = ''] = subject.split('/');
  const found = await tx.packages.find(namespace, name);
  return found === undefined ? [] : tx.releases.inChannel(found.id, channel, at);
}

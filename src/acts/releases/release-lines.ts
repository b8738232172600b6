// The lines of a release for approvers.
import { channelLine, type ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { slotText } from '#domain/releases/release-text.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import { currentFleetText } from '../fleets/fleet-lines.ts';

/** The line of one slot of a channel. */
export const slotLine = (
  subject: Pick<PublishedPackage, 'namespace' | 'name'>,
  channel: string,
  slot: string,
  change: Pick<ApprovalLine, 'from' | 'to'>,
): ApprovalLine => channelLine(subject, { channel, part: slot === '*' ? null : slot, ...change });

/** Whether two releases are in the same slot of the same channel. */
export const isSameSlot = (
  release: Pick<Release, 'channel' | 'slot'>,
  other: Pick<Release, 'channel' | 'slot'>,
): boolean => release.channel === other.channel && release.slot === other.slot;

/** A release at its present percentage that no rollout raises. */
export function withoutRollout(release: Release): Release {
  const fixed = { ...release };
  delete fixed.rollout;
  delete fixed.plan;
  return fixed;
}

/** Whether the channels in the lines of a proposal hold the same content as when it was proposed. */
export async function areReleaseLinesCurrent(
  tx: ChangeRecords,
  lines: readonly ApprovalLine[],
  at: string,
): Promise<boolean> {
  const channels = new Map<string, Release[]>();
  for (const line of lines) {
    const { kind, on, part, from } = line;
    if (kind !== 'releases') continue;
    const ofFleet = await currentFleetText(tx, line);
    if (ofFleet !== undefined && ofFleet !== from) return false;
    if (ofFleet !== undefined) continue;
    const held = channels.get(on) ?? (await inChannel(tx, on, at));
    channels.set(on, held);
    if (slotText(held.filter(({ slot }) => slot === (part ?? '*'))) !== from) return false;
  }
  return true;
}

async function inChannel(tx: ChangeRecords, on: string, at: string): Promise<Release[]> {
  const [subject = '', channel = ''] = on.split(':');
  const [namespace = '', name = ''] = subject.split('/');
  const publishedPackage = await tx.packages.find(namespace, name);
  return publishedPackage === undefined ? [] : tx.releases.inChannel(publishedPackage.id, channel, at);
}

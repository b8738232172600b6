// What a snap's channels held when a cohort was made: so they stay for whoever shows its key.
import { branchExpiry } from '#acts/releases.ts';
import { everybody, slotsOf, type Holding } from '#domain/channel-map.ts';
import { parseChannel } from '#domain/channel.ts';
import { timestamp } from '#domain/clock.ts';
import type { HandlerRecords } from '#api/handler-records.ts';

/** Without what was on its way to a part of the devices, since a cohort moves as one; a branch ends for it as for everybody. */
export async function mapAt(
  packageId: string,
  moment: Date,
  { pastReleases }: Pick<HandlerRecords, 'pastReleases'>,
): Promise<Holding[]> {
  const held = await pastReleases.heldAt(packageId, timestamp(moment));
  return held.flatMap(({ slot: name, channel, revision, releasedAt }) => {
    const read = parseChannel(channel);
    const [slot] = slotsOf('snap', { architectures: [name] });
    return read && slot
      ? { ...slot, channel, revision, progressive: everybody, expiresAt: branchExpiry(read, releasedAt) }
      : [];
  });
}

// What a snap's channels held when a cohort was made: so they stay for whoever shows its key.
import { branchExpiry } from '#acts/releases.ts';
import { everybody, slotsOf } from '#domain/channel-map.ts';
import { parseChannel } from '#domain/channel.ts';
import { timestamp } from '#domain/clock.ts';
import type { HandlerRecords } from '#api/handler-records.ts';
import type { HeldForDevices } from './components.ts';

/** Without what was on its way to a part of the devices, since a cohort moves as one; a branch ends for it as for everybody. */
export async function mapAt(
  packageId: string,
  moment: Date,
  { pastReleases }: Pick<HandlerRecords, 'pastReleases'>,
): Promise<HeldForDevices[]> {
  const held = await pastReleases.heldAt(packageId, timestamp(moment));
  return held.flatMap(({ slot: name, channel, revision, resources, expiresAt, releasedAt }) => {
    const read = parseChannel(channel);
    const [slot] = slotsOf('snap', { architectures: [name] });
    if (read === undefined || slot === undefined) return [];
    const ends = { expiresAt: expiresAt ?? branchExpiry(read, releasedAt) };
    return { ...slot, channel, revision, progressive: everybody, ...ends, resources: resources ?? [] };
  });
}

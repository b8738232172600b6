// Reads the channel map of a snap as it was when a cohort key was made. Devices that show the key keep getting these revisions.
import { branchExpiry } from '#acts/releases/releases.ts';
import { everyDevice, slotsOf } from '#domain/releases/channel-map.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { timestamp } from '#domain/clock.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import type { HeldForDevices } from './components.ts';

/**
 * Reads the channel map of a snap at a moment. It has no progressive releases, because all devices of a cohort get the same revision.
 * Branches expire as for other devices.
 */
export async function readChannelMapAt(
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
    return { ...slot, channel, revision, progressive: everyDevice, ...ends, resources: resources ?? [] };
  });
}

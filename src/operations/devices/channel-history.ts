// Reads former contents of channels and caches them for one call, so each snap is read once. A call with hundreds of actions for
// one snap with an old epoch, or with a cohort key, needs as few reads as any other call.
import { timestamp } from '#domain/clock.ts';
import type { Epoch } from '#domain/revisions/epoch.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import type { RevisionForDevices } from '#records/revisions/revisions.ts';
import { readChannelMapAt } from './cohort-map.ts';
import type { HeldForDevices } from './components.ts';
import { readAnnouncement } from './served-snap.ts';

/** A revision that a channel held, with the data formats that it reads and writes. */
export type SnapRevisionWithEpoch = RevisionForDevices & { epoch: Epoch };

export interface ChannelHistory {
  /** The revisions that one of these slots held for all devices until a moment, newest first. */
  steps(
    packageId: string,
    channel: string,
    slots: readonly string[],
    until: Date | undefined,
  ): Promise<readonly SnapRevisionWithEpoch[]>;
  /** The channel map of a snap at a moment. */
  heldAt(packageId: string, moment: Date): Promise<readonly HeldForDevices[]>;
}

/** Creates the history of one call; each result is read once. */
export function createChannelHistory(records: Pick<HandlerRecords, 'pastReleases' | 'revisions'>): ChannelHistory {
  const readings = new Map<string, Promise<readonly unknown[]>>();
  const once = <Found>(key: readonly unknown[], read: () => Promise<readonly Found[]>): Promise<readonly Found[]> => {
    const name = JSON.stringify(key);
    const reading = (readings.get(name) as Promise<readonly Found[]> | undefined) ?? read();
    readings.set(name, reading);
    return reading;
  };
  return {
    steps: (packageId, channel, slots, until) =>
      once(['steps', packageId, channel, slots, until], async () => {
        const at = until && timestamp(until);
        const numbers = await records.pastReleases.everHeld(packageId, channel, slots, at);
        const steps: SnapRevisionWithEpoch[] = [];
        for (const number of numbers) {
          const past = await records.revisions.forDevices(packageId, number);
          if (past !== undefined) steps.push({ ...past, epoch: readAnnouncement(past).epoch });
        }
        return steps;
      }),
    heldAt: (packageId, moment) =>
      once(['held', packageId, moment], () => readChannelMapAt(packageId, moment, records)),
  };
}

// What channels held before, as one call of a device asks for it: of a snap that many actions name it is read once. Who sends
// actions by the hundred for one snap with an old epoch, or a cohort's key, makes the store read no more than another does.
import { timestamp } from '#domain/clock.ts';
import type { Epoch } from '#domain/epoch.ts';
import type { HandlerRecords } from '#api/handler-records.ts';
import type { RevisionForDevices } from '#records/revisions.ts';
import { mapAt } from './cohort-map.ts';
import type { HeldForDevices } from './components.ts';
import { announced } from './served-snap.ts';

/** A revision that was once in a channel, and what data it reads and writes. */
export type Step = RevisionForDevices & { epoch: Epoch };

export interface History {
  /** Those that one of these slots of a channel held for everybody until a moment, the newest first. */
  steps(
    packageId: string,
    channel: string,
    slots: readonly string[],
    until: Date | undefined,
  ): Promise<readonly Step[]>;
  /** What the channels of a snap held at a moment. */
  heldAt(packageId: string, moment: Date): Promise<readonly HeldForDevices[]>;
}

/** For one call: what is found once is not read again. */
export function historyIn(records: Pick<HandlerRecords, 'pastReleases' | 'revisions'>): History {
  const found = new Map<string, Promise<readonly unknown[]>>();
  const once = <Found>(key: readonly unknown[], read: () => Promise<readonly Found[]>): Promise<readonly Found[]> => {
    const name = JSON.stringify(key);
    const reading = (found.get(name) as Promise<readonly Found[]> | undefined) ?? read();
    found.set(name, reading);
    return reading;
  };
  return {
    steps: (packageId, channel, slots, until) =>
      once(['steps', packageId, channel, slots, until], async () => {
        const at = until && timestamp(until);
        const numbers = await records.pastReleases.everHeld(packageId, channel, slots, at);
        const steps: Step[] = [];
        for (const number of numbers) {
          const past = await records.revisions.forDevices(packageId, number);
          if (past !== undefined) steps.push({ ...past, epoch: announced(past).epoch });
        }
        return steps;
      }),
    heldAt: (packageId, moment) => once(['held', packageId, moment], () => mapAt(packageId, moment, records)),
  };
}

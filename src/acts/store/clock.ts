// The latest time that the store has seen, and the administrator's acceptance of the clock.
import { act } from '../act.ts';

/** The appliance settings for both. */
export const latestTimeSetting = 'latest-time';
export const clockAcceptanceSetting = 'clock-accepted';

export const recordLatestTime = act({
  name: 'record_latest_time',
  summary: 'Record the latest time that was seen.',
  on: 'clock',
  object: () => 'clock',
  gate: { never: 'it follows from the time alone' },

  /** `accepted` is the id of the last acceptance of the clock that the calling process has read. */
  async perform(tx, { seen, accepted }: { seen: string; accepted: string | undefined }, { note }): Promise<void> {
    // If an administrator has accepted the clock since then, `seen` may be the wrong time: do not record it.
    if ((await tx.appliance.find(clockAcceptanceSetting)) === accepted) await tx.appliance.set(latestTimeSetting, seen);
    else note({ overtaken: true });
  },
});

export const acceptClock = act({
  name: 'accept_clock',
  summary: 'Accept the clock of the host as right, even if a later time was seen before.',
  on: 'clock',
  object: () => 'clock',
  gate: { never: 'until then the store deletes and expires nothing' },

  /** Returns the latest time seen before. A serving process adopts the new one within a minute. */
  async perform(
    tx,
    { acceptanceId }: { acceptanceId: string },
    { at, note },
  ): Promise<{ accepted: string; before: string | null }> {
    const before = (await tx.appliance.find(latestTimeSetting)) ?? null;
    note({ before });
    await tx.appliance.set(latestTimeSetting, at);
    await tx.appliance.set(clockAcceptanceSetting, acceptanceId);
    return { accepted: at, before };
  },
});

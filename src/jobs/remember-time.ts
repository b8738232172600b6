// The latest time that was seen is kept, so that a clock that is set back brings no token to life again.
import { after, hours, timestamp, type Now } from '#domain/clock.ts';
import type { Authority } from '#macaroons/authority.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

const name = 'latest-time';
/** A clock further off than this from the latest time seen is reported. */
const tolerance = hours(24);

export const rememberTime = (records: Records, authority: Authority): Job => ({
  name: 'remember-time',
  every: hours(1),
  async run() {
    await keepTime(records, authority.latestTime());
    return {};
  },
});

export async function keepTime(records: Records, latest: Date): Promise<void> {
  const at = timestamp(latest);
  const entry = { at, actor: 'larder', action: 'remember_time', object: 'clock' };
  await records.change(entry, (tx) => tx.appliance.set(name, at));
}

/** The time kept by the last run, and what is wrong with the clock in its light. */
export async function recallTime(records: Records, now: Now): Promise<{ latest: Date; problem: string | undefined }> {
  const kept = await records.appliance.find(name);
  if (kept === undefined) return { latest: now(), problem: undefined };
  const latest = new Date(kept);
  const moment = now();
  const off = moment < after(latest, -tolerance) ? 'before' : moment > after(latest, tolerance) ? 'after' : undefined;
  return {
    latest,
    problem:
      off &&
      `The clock says ${timestamp(moment)}, more than a day ${off} the time at which larder last ran, ${kept}. Set the clock right; if it is right, run 'larder clock accept'.`,
  };
}

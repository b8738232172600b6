// Stores the latest time seen, so that setting the clock back does not make expired tokens valid.
import { itself, type Acts } from '#acts/act.ts';
import { acceptanceName, latestTimeName, rememberTime } from '#acts/clock.ts';
import { clockTolerance, hours, minutes, timestamp, type Now } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { Records } from '#records/index.ts';
import type { FactsOf } from '#src/faults.ts';
import type { Job } from './runner.ts';

export interface TimeKeeper {
  /** Stores the time once per hour. Checks every minute whether an administrator has accepted the clock. */
  job: Job;
  /** Stores the latest time now. */
  keep(): Promise<void>;
  /** Returns why the clock is in doubt, until it is corrected or accepted. */
  doubt(): FactsOf<'clock'> | undefined;
}

/**
 * Reads the time that the last run stored and continues to store it. If `keeps` is false it stores nothing, because another process of
 * this store does.
 */
export async function timeKeeper(
  records: Records,
  acts: Acts,
  latestTime: LatestTime,
  now: Now,
  keeps = true,
): Promise<TimeKeeper> {
  let accepted = await records.appliance.find(acceptanceName);
  const kept = await records.appliance.find(latestTimeName);
  if (kept !== undefined) latestTime.saw(new Date(kept));
  const doubtedAtStart = latestTime.isInDoubt();
  let isDoubted = doubtedAtStart;
  let lastKept = now();

  const keep = async (): Promise<void> => {
    if (!keeps) return;
    const seen = timestamp(latestTime.seen());
    lastKept = now();
    await acts.do(rememberTime, itself, { seen, accepted });
  };

  return {
    keep,
    doubt() {
      if (!latestTime.isInDoubt()) return undefined;
      if (doubtedAtStart && kept !== undefined) return doubtOf(now(), kept);
      return doubtBy(now(), timestamp(latestTime.expected()), 'the time that it should show by now');
    },
    job: {
      name: 'remember-time',
      inDoubt: 'runs',
      oncePer: 'process',
      every: minutes(1),
      async run() {
        if (latestTime.isInDoubt() !== isDoubted) {
          isDoubted = !isDoubted;
          records.forgetRemembered();
        }
        const newest = await records.appliance.find(acceptanceName);
        if (newest !== accepted) {
          accepted = newest;
          latestTime.accept(now());
          return { accepted: 1 };
        }
        if (now().getTime() >= lastKept.getTime() + hours(1)) await keep();
        return {};
      },
    },
  };
}

/** Returns why the clock is in doubt, compared with the time of the last run of larder. */
export const doubtOf = (moment: Date, kept: string): FactsOf<'clock'> | undefined =>
  Math.abs(moment.getTime() - Date.parse(kept)) > clockTolerance
    ? doubtBy(moment, kept, 'the time at which larder last ran')
    : undefined;

const doubtBy = (moment: Date, expected: string, expectedBy: string): FactsOf<'clock'> => ({
  says: timestamp(moment),
  isBefore: moment < new Date(expected),
  expected,
  expectedBy,
});

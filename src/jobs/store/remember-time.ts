// Stores the latest time seen, so that setting the clock back does not make expired tokens valid.
import { itself, type Acts } from '#acts/act.ts';
import { clockAcceptanceSetting, latestTimeSetting, recordLatestTime } from '#acts/store/clock.ts';
import { clockTolerance, hours, minutes, timestamp, type Now } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { StoreRecords } from '#records/index.ts';
import type { FactsOf } from '#platform/faults.ts';
import type { BackgroundJob } from '../runner.ts';

export interface TimeKeeper {
  /** Stores the time once per hour. Checks every minute whether an administrator has accepted the clock. */
  job: BackgroundJob;
  /** Stores the latest time now. */
  keep(): Promise<void>;
  /** Returns why the clock is in doubt, until it is corrected or accepted. */
  doubt(): FactsOf<'clock'> | undefined;
}

/**
 * Reads the time that the last run stored and continues to store it. If `keeps` is false it stores nothing, because another process of
 * this store does.
 */
export async function createTimeKeeper(
  records: StoreRecords,
  acts: Acts,
  latestTime: LatestTime,
  now: Now,
  keeps = true,
): Promise<TimeKeeper> {
  let accepted = await records.appliance.find(clockAcceptanceSetting);
  const storedTime = await records.appliance.find(latestTimeSetting);
  if (storedTime !== undefined) latestTime.saw(new Date(storedTime));
  const doubtedAtStart = latestTime.isInDoubt();
  let isDoubted = doubtedAtStart;
  let lastKept = now();

  const keep = async (): Promise<void> => {
    if (!keeps) return;
    const seen = timestamp(latestTime.seen());
    lastKept = now();
    await acts.do(recordLatestTime, itself, { seen, accepted });
  };

  return {
    keep,
    doubt() {
      if (!latestTime.isInDoubt()) return undefined;
      if (doubtedAtStart && storedTime !== undefined) return doubtOf(now(), storedTime);
      return doubtBy(now(), timestamp(latestTime.expected()), 'the time that the clock should show');
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
        const newest = await records.appliance.find(clockAcceptanceSetting);
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
export const doubtOf = (moment: Date, storedTime: string): FactsOf<'clock'> | undefined =>
  Math.abs(moment.getTime() - Date.parse(storedTime)) > clockTolerance
    ? doubtBy(moment, storedTime, 'the time of the last run of larder')
    : undefined;

const doubtBy = (moment: Date, expected: string, expectedBy: string): FactsOf<'clock'> => ({
  says: timestamp(moment),
  isBefore: moment < new Date(expected),
  expected,
  expectedBy,
});

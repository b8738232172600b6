// The latest time that was seen is kept, so that a clock that is set back brings no token to life again.
import { itself, type Acts } from '#acts/act.ts';
import { acceptanceName, latestTimeName, rememberTime } from '#acts/clock.ts';
import { clockTolerance, hours, minutes, timestamp, type Now } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

export interface TimeKeeper {
  /** Keeps the time once an hour, and looks every minute whether an administrator has accepted the clock. */
  job: Job;
  /** Keeps the latest time now. */
  keep(): Promise<void>;
  /** What is wrong with the clock, until it is set right or accepted. */
  problem(): string | undefined;
}

/**
 * Recalls the time that the last run has kept, and goes on keeping it; not where it `keeps` none, because another process
 * that serves the store with this one does.
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
    problem() {
      if (!latestTime.isInDoubt()) return undefined;
      if (doubtedAtStart && kept !== undefined) return problemOf(now(), kept);
      return doubt(now(), timestamp(latestTime.expected()), 'what it should say by the time that has gone by');
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

/** What is wrong with a clock in the light of the time at which larder last ran. */
export const problemOf = (moment: Date, kept: string): string | undefined =>
  Math.abs(moment.getTime() - Date.parse(kept)) > clockTolerance
    ? doubt(moment, kept, 'the time at which larder last ran')
    : undefined;

const doubt = (moment: Date, expected: string, what: string): string =>
  `The clock says ${timestamp(moment)}, more than a day ${moment < new Date(expected) ? 'before' : 'after'} ${what}, ${expected}. ` +
  'Until that is settled nothing is forgotten, expired or removed. ' +
  "Set the clock right; if it is right, run 'larder clock accept'.";

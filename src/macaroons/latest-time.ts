// The latest time ever seen: an expired token stays expired, even if the clock is set back. A time more than a day from
// the expected one is in doubt and not recorded: a clock that was wrong for an hour must not have effects for years.
import { clockTolerance, type Now } from '#domain/clock.ts';

export interface LatestTime {
  /** The current time, or the latest time seen if the clock was set back. */
  now(): Date;
  /** Reads the clock, and returns the latest time recorded: times that were in doubt are not recorded. */
  seen(): Date;
  /** Whether the clock differs from the expected time by more than `clockTolerance`; see there. */
  isInDoubt(): boolean;
  /** The last trusted time plus the time elapsed since. */
  expected(): Date;
  /** Takes over the latest time of the last run at start. A clock that differs from it by more than `clockTolerance` is in doubt. */
  saw(moment: Date): void;
  /** Resets the expected time: an administrator confirms that the clock is right. */
  accept(moment: Date): void;
}

/** `elapsed` is a monotonic clock in milliseconds. */
export function latestTime(now: Now, elapsed: () => number = () => performance.now()): LatestTime {
  // In milliseconds since 1970: it is read several times per request.
  let latest = 0;
  let believed = { moment: now().getTime(), at: elapsed() };
  const expected = (): number => believed.moment + elapsed() - believed.at;

  /** Reads the clock and records the time, unless it is in doubt. */
  const look = (): number => {
    const moment = now().getTime();
    const at = elapsed();
    if (!isOff(moment, believed.moment + at - believed.at)) {
      believed = { moment, at };
      if (moment > latest) latest = moment;
    }
    return moment;
  };

  return {
    now: () => new Date(Math.max(look(), latest)),
    seen() {
      look();
      return new Date(latest);
    },
    isInDoubt: () => isOff(look(), expected()),
    expected: () => new Date(expected()),
    saw(moment) {
      believed = { moment: moment.getTime(), at: elapsed() };
      latest = Math.max(latest, moment.getTime());
    },
    accept(moment) {
      believed = { moment: moment.getTime(), at: elapsed() };
      latest = moment.getTime();
    },
  };
}

const isOff = (moment: number, expected: number): boolean => Math.abs(moment - expected) > clockTolerance;

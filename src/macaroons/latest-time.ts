// The latest time that was ever seen: what has expired stays expired, even when the clock is set back. A time that is
// further than a day from what is to be expected is in doubt, and is not taken note of: a clock that was wrong for an hour
// must not be believed for years.
import { clockTolerance, type Now } from '#domain/clock.ts';

export interface LatestTime {
  /** The present, or the latest moment seen when the clock has been set back since. */
  now(): Date;
  /** The latest moment seen that was not in doubt. */
  seen(): Date;
  /** Whether the clock is further than `clockTolerance` from what is to be expected; see there. */
  isInDoubt(): boolean;
  /** The time that was last believed, and what has gone by since. */
  expected(): Date;
  /** Takes note of a moment that was seen earlier, by the last run: this one is expected to follow it. */
  saw(moment: Date): void;
  /** Forgets what was seen and begins again here: an administrator says that the clock is right. */
  accept(moment: Date): void;
}

/** `elapsed` is a clock that nobody sets, in milliseconds from whenever. */
export function latestTime(now: Now, elapsed: () => number = () => performance.now()): LatestTime {
  // In milliseconds since 1970: it is asked several times a request.
  let latest = 0;
  let believed = { moment: now().getTime(), at: elapsed() };
  const expected = (): number => believed.moment + elapsed() - believed.at;

  /** What the clock says, taken note of unless it is in doubt. */
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

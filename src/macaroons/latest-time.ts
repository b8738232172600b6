// The latest time that was ever seen: what has expired stays expired, even when the clock is set back. A time that is
// further than a day from what is to be expected is in doubt, and is not taken note of: a clock that was wrong for an hour
// must not be believed for years.
import { after, hours, type Now } from '#domain/clock.ts';

export interface LatestTime {
  /** The present, or the latest moment seen when the clock has been set back since. */
  now(): Date;
  /** The latest moment seen that was not in doubt. */
  seen(): Date;
  /** Whether the clock is further than `tolerance` from what is to be expected; see there. */
  isInDoubt(): boolean;
  /** The time that was last believed, and what has gone by since. */
  expected(): Date;
  /** Takes note of a moment that was seen earlier, by the last run: this one is expected to follow it. */
  saw(moment: Date): void;
  /** Forgets what was seen and begins again here: an administrator says that the clock is right. */
  accept(moment: Date): void;
}

/** A clock further off than this, at the start or by a step while serving, is in doubt until it is set right or accepted. */
export const tolerance = hours(24);

/** `elapsed` is a clock that nobody sets, in milliseconds from whenever. */
export function latestTime(now: Now, elapsed: () => number = () => performance.now()): LatestTime {
  let latest = new Date(0);
  let believed = { moment: now(), at: elapsed() };
  const expected = (): Date => after(believed.moment, elapsed() - believed.at);

  /** What the clock says, taken note of unless it is in doubt. */
  const look = (): Date => {
    const moment = now();
    if (!isOff(moment, expected())) {
      believed = { moment, at: elapsed() };
      if (moment > latest) latest = moment;
    }
    return moment;
  };

  return {
    now() {
      const moment = look();
      return moment > latest ? moment : latest;
    },
    seen() {
      look();
      return latest;
    },
    isInDoubt: () => isOff(look(), expected()),
    expected,
    saw(moment) {
      believed = { moment, at: elapsed() };
      if (moment > latest) latest = moment;
    },
    accept(moment) {
      believed = { moment, at: elapsed() };
      latest = moment;
    },
  };
}

const isOff = (moment: Date, expected: Date): boolean => Math.abs(moment.getTime() - expected.getTime()) > tolerance;

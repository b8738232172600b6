// The latest time that was ever seen: what has expired stays expired, even when the clock is set back.
import type { Now } from '#domain/clock.ts';

export interface LatestTime {
  /** The present, or the latest moment seen when the clock has been set back since. */
  now(): Date;
  /** Takes note of a moment that was seen earlier, such as by the last run. */
  saw(moment: Date): void;
  /** Forgets what was seen and begins again here: an administrator says that the clock is right. */
  accept(moment: Date): void;
}

export function latestTime(now: Now): LatestTime {
  let latest = new Date(0);
  const saw = (moment: Date): void => {
    if (moment > latest) latest = moment;
  };
  return {
    now() {
      saw(now());
      return latest;
    },
    saw,
    accept(moment) {
      latest = moment;
    },
  };
}

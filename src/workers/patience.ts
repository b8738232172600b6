// How soon a worker that has ended is replaced, and when that is of no use any more.
import { seconds } from '#domain/clock.ts';

/** Whoever has served for so long has ended for a reason of its own, and not because no worker can serve. */
const settled = seconds(5);
const longestPause = seconds(5);

export interface Patience {
  /** Says that a worker has ended that had served for so many milliseconds; how long to wait, or nothing to give up. */
  ended(served: number): number | undefined;
  /** How many have ended in succession without having served for long. */
  inSuccession(): number;
}

/** For so many workers: all of them may end at once without it being in vain to go on. */
export function createPatience(workers: number): Patience {
  const most = 3 + workers;
  let count = 0;
  return {
    ended(served) {
      count = served >= settled ? 1 : count + 1;
      if (count > most) return undefined;
      return count === 1 ? 0 : Math.min(longestPause, 50 * 2 ** count);
    },
    inSuccession: () => count,
  };
}

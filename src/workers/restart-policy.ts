// Decides how soon a worker that has ended is replaced, and when to give up.
import { seconds } from '#domain/clock.ts';

/** A worker that has served this long ended for a reason of its own: the store can be served. */
const settled = seconds(5);
const longestPause = seconds(5);

export interface RestartPolicy {
  /**
   * Records that a worker has ended after serving this many milliseconds. Returns how long to wait before a restart, or
   * undefined to give up.
   */
  ended(served: number): number | undefined;
  /** How many workers in succession have ended without having served for long. */
  inSuccession(): number;
}

/** `workers` is their number: if all of them end at the same moment, a restart still makes sense. */
export function createRestartPolicy(workers: number): RestartPolicy {
  const maxInSuccession = 3 + workers;
  let count = 0;
  return {
    ended(served) {
      count = served >= settled ? 1 : count + 1;
      if (count > maxInSuccession) return undefined;
      return count === 1 ? 0 : Math.min(longestPause, 50 * 2 ** count);
    },
    inSuccession: () => count,
  };
}

// What went wrong lately, counted by what it is about. Bounded: when there are too many to remember, what failed longest
// ago is forgotten first, and nobody can empty the count of somebody who goes on failing.
import type { Now } from '#domain/clock.ts';

export interface Failures {
  /** What is counted under a key, or nothing when the last failure is longer ago than the period. */
  recent(key: string): Count | undefined;
  /** Counts one more; how many there are now. */
  add(key: string): number;
  forget(key: string): void;
}

export interface Count {
  count: number;
  /** When the last one was, in milliseconds since 1970. */
  last: number;
}

export interface FailureOptions {
  now: Now;
  /** How long a failure counts after the last one, in milliseconds. */
  period: number;
  /** How many keys are remembered. */
  remembered?: number;
}

export function countFailures({ now, period, remembered = 20_000 }: FailureOptions): Failures {
  /** In the order of their last failures. */
  const counts = new Map<string, Count>();

  const recent = (key: string): Count | undefined => {
    const found = counts.get(key);
    return found !== undefined && now().getTime() < found.last + period ? found : undefined;
  };

  return {
    recent,
    add(key) {
      const count = (recent(key)?.count ?? 0) + 1;
      counts.delete(key);
      if (counts.size >= remembered) counts.delete(counts.keys().next().value as string);
      counts.set(key, { count, last: now().getTime() });
      return count;
    },
    forget(key) {
      counts.delete(key);
    },
  };
}

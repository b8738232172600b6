// How many requests were answered in each minute of the last hour, and how many of them failed: what the front page of the
// console draws. It is of this process alone, and gone with it; who wants more lets Prometheus ask.
import { minutes, type Now } from '#domain/clock.ts';

/** One minute. */
export interface Minute {
  answered: number;
  /** Those that were answered with 5xx. */
  failed: number;
}

export interface LastHour {
  count(status: number): void;
  /** Sixty minutes, the one that goes on now last. */
  minutes(): Minute[];
}

const kept = 60;

export function createLastHour(now: Now): LastHour {
  const answered = new Uint32Array(kept);
  const failed = new Uint32Array(kept);
  let current = minuteOf(now);

  /** Empties the minutes in which nothing was answered. */
  const goOn = (): number => {
    const minute = minuteOf(now);
    for (let at = Math.max(current + 1, minute - kept + 1); at <= minute; at++)
      answered[at % kept] = failed[at % kept] = 0;
    if (minute > current) current = minute;
    return current % kept;
  };
  return {
    count(status) {
      const at = goOn();
      answered[at] = (answered[at] ?? 0) + 1;
      if (status >= 500) failed[at] = (failed[at] ?? 0) + 1;
    },
    minutes() {
      const at = goOn();
      return Array.from({ length: kept }, (_, before) => {
        const place = (at + 1 + before) % kept;
        return { answered: answered[place] ?? 0, failed: failed[place] ?? 0 };
      });
    },
  };
}

const minuteOf = (now: Now): number => Math.floor(now().getTime() / minutes(1));

// Counts requests and failures per minute of the last hour, for the chart on the front page of the console. The counts cover the serving
// processes and end with them; Prometheus keeps longer series.
import { minutes, type Now } from '#domain/clock.ts';

/** One minute. */
export interface Minute {
  answered: number;
  /** Responses with status 5xx. */
  failed: number;
}

export interface LastHour {
  count(status: number): void;
  /** Sixty minutes of all serving processes; the current minute is last. */
  minutes(): Promise<Minute[]>;
  /** Sixty minutes of this process only; the current minute is last. */
  own(): Minute[];
}

const minuteCount = 60;

const none = (): Promise<never[]> => Promise.resolve([]);

/** `others` returns the minutes of each other serving process. */
export function createLastHour(now: Now, others: (own: Minute[]) => Promise<Minute[][]> = none): LastHour {
  const answered = new Uint32Array(minuteCount);
  const failed = new Uint32Array(minuteCount);
  let current = minuteOf(now);

  /** Clears the minutes without a response. */
  const goOn = (): number => {
    const minute = minuteOf(now);
    for (let at = Math.max(current + 1, minute - minuteCount + 1); at <= minute; at++)
      answered[at % minuteCount] = failed[at % minuteCount] = 0;
    if (minute > current) current = minute;
    return current % minuteCount;
  };
  const own = (): Minute[] => {
    const at = goOn();
    return Array.from({ length: minuteCount }, (_, before) => {
      const place = (at + 1 + before) % minuteCount;
      return { answered: answered[place] ?? 0, failed: failed[place] ?? 0 };
    });
  };
  return {
    own,
    count(status) {
      const at = goOn();
      answered[at] = (answered[at] ?? 0) + 1;
      if (status >= 500) failed[at] = (failed[at] ?? 0) + 1;
    },
    async minutes() {
      const ownMinutes = own();
      const otherMinutes = await others(ownMinutes);
      return ownMinutes.map((minute, at) =>
        otherMinutes.reduce(
          (sum, processMinutes) => ({
            answered: sum.answered + (processMinutes[at]?.answered ?? 0),
            failed: sum.failed + (processMinutes[at]?.failed ?? 0),
          }),
          minute,
        ),
      );
    },
  };
}

const minuteOf = (now: Now): number => Math.floor(now().getTime() / minutes(1));

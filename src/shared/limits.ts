// What went wrong lately, counted by what it is about, by all processes of a store together. Bounded: when there are too
// many to remember, what failed longest ago is forgotten first, and nobody can empty the count of somebody who goes on
// failing.
import { after, timestamp, type Now } from '#domain/clock.ts';
import type { FailureKind } from '#records/failures.ts';
import type { Records } from '#records/index.ts';

export interface Failures {
  /** What is counted under a key, or nothing when the last failure is longer ago than the period. */
  recent(key: string): Promise<Count | undefined>;
  /** Counts one more under each key; how many there are now. */
  add(...keys: string[]): Promise<number[]>;
  forget(key: string): Promise<void>;
}

export interface Count {
  count: number;
  /** When the last one was, in milliseconds since 1970. */
  last: number;
}

export interface FailureOptions {
  records: Pick<Records, 'failures' | 'passing'>;
  kind: FailureKind;
  now: Now;
  /** How long a failure counts after the last one, in milliseconds. */
  period: number;
  /** How many keys are remembered. */
  remembered?: number | undefined;
}

/** The keys are digests: of one length, and nothing that a reader of the records learns anything from. */
export function countFailures({ records, kind, now, period, remembered = 20_000 }: FailureOptions): Failures {
  return {
    async recent(key) {
      const found = await records.failures.find(kind, key, timestamp(now()));
      return found && { count: found.count, last: Date.parse(found.endsAt) - period };
    },

    add: (...keys) =>
      records.passing(async ({ failures }) => {
        const moment = now();
        const endsAt = timestamp(after(moment, period));
        const counts: number[] = [];
        for (const key of keys) {
          const count = ((await failures.find(kind, key, timestamp(moment)))?.count ?? 0) + 1;
          await failures.set(kind, key, { count, endsAt });
          counts.push(count);
        }
        await failures.bound(kind, remembered);
        return counts;
      }),

    async forget(key) {
      if ((await records.failures.find(kind, key, timestamp(now()))) === undefined) return;
      await records.passing(({ failures }) => failures.forget(kind, key));
    },
  };
}

// Counts recent failures by key, for all processes of a store together. The number of keys is bounded: the one with the
// oldest failure is dropped first, so an attacker cannot clear the count of a key that keeps failing.
import { after, timestamp, type Now } from '#domain/clock.ts';
import type { FailureKind } from '#records/login/failures.ts';
import type { StoreRecords } from '#records/index.ts';

export interface FailureCounter {
  /** The count of a key; undefined if its last failure is older than the period. */
  recent(key: string): Promise<RecentFailures | undefined>;
  /** Adds one failure to each key and returns the new counts. */
  add(...keys: string[]): Promise<number[]>;
  forget(key: string): Promise<void>;
}

export interface RecentFailures {
  count: number;
  /** The time of the last failure, in milliseconds since 1970. */
  last: number;
}

export interface FailureOptions {
  records: Pick<StoreRecords, 'failures' | 'ephemeral'>;
  kind: FailureKind;
  now: Now;
  /** How long a failure counts after the last one, in milliseconds. */
  period: number;
  /** The maximum number of keys. */
  remembered?: number | undefined;
}

/** Callers pass digests as keys: all have the same length, and readers of the records learn nothing from them. */
export function createFailureCounter({
  records,
  kind,
  now,
  period,
  remembered = 20_000,
}: FailureOptions): FailureCounter {
  return {
    async recent(key) {
      const record = await records.failures.find(kind, key, timestamp(now()));
      return record && { count: record.count, last: Date.parse(record.endsAt) - period };
    },

    add: (...keys) =>
      records.ephemeral(async ({ failures }) => {
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
      await records.ephemeral(({ failures }) => failures.forget(kind, key));
    },
  };
}

// Makes one process at a time remove a shared blob, for storage that cannot ensure this itself (see
// blobs/s3/removals.ts). Uses leases that do not end with their process, because a removal that it requested may still
// be in progress.
import { randomUUID } from '#domain/cryptography.ts';
import { setTimeout as sleep } from 'node:timers/promises';

import { after, seconds, timestamp, type Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import { leaseLifeMs } from './leases.ts';
import { outlivesProcess } from './processes.ts';

interface RemovingOptions {
  records: Pick<StoreRecords, 'ephemeral' | 'leases'>;
  now: Now;
  /** The life of a lease in milliseconds. */
  life?: number;
  /** A monotonic clock in milliseconds. */
  elapsed?: () => number;
}

/** The time that must be left on the lease after the check, because the removal may take effect that much later. */
const late = seconds(30);
/** A lease that was renewed within this time is not renewed again before the check. */
const fresh = seconds(5);
/** The interval for checking whether a removal is over, in milliseconds. */
const every = 250;

export function createExclusiveRemoval({
  records,
  now,
  life = leaseLifeMs,
  elapsed = () => performance.now(),
}: RemovingOptions) {
  const nameOf = (sha3_384: string): string => `remove ${sha3_384}`;

  function lease(sha3_384: string) {
    const [name, holder] = [nameOf(sha3_384), `${outlivesProcess}${randomUUID()}`];
    let takenAt = -Infinity;
    const take = async (): Promise<boolean> => {
      const began = elapsed();
      const moment = now();
      const [endsAt, tooLate] = [timestamp(after(moment, life)), timestamp(after(moment, 2 * life))];
      const isOurs = await records.ephemeral(({ leases }) =>
        leases.take(name, holder, { now: timestamp(moment), endsAt, tooLate }),
      );
      if (isOurs) takenAt = began;
      return isOurs;
    };
    return {
      take,
      left: () => life - (elapsed() - takenAt),
      release: () => records.ephemeral(({ leases }) => leases.release(name, holder)),
    };
  }

  return {
    async alone<Result>(
      sha3_384: string,
      work: (certain: <Found>(look: () => Promise<Found>) => Promise<Found>) => Promise<Result>,
    ): Promise<{ result: Result } | undefined> {
      const { take, left, release } = lease(sha3_384);
      if (!(await take())) return undefined;
      // A failed renewal is retried. The lease is checked before anything is removed.
      const renewal = setInterval(() => void take().catch(() => undefined), life / 4).unref();
      try {
        const result = await work(async (look) => {
          if (left() < life - fresh && !(await take())) throw lost();
          const observed = await look();
          if (left() < late) throw lost();
          return observed;
        });
        await release();
        return { result };
      } finally {
        clearInterval(renewal);
      }
    },

    async none(sha3_384: string): Promise<void> {
      for (;;) {
        const held = await records.leases.find(nameOf(sha3_384));
        const moment = now();
        if (held === undefined || held.endsAt <= timestamp(moment) || held.endsAt > timestamp(after(moment, 2 * life)))
          return;
        await sleep(every);
      }
    },
  };
}

const lost = (): Error => new Error('cannot remove a blob: another process may have started to remove it');

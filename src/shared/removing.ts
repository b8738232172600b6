// Who removes content that several processes share, where the place of the content itself cannot tell (blobs/s3/removals.ts says what
// for). A lease of its own kind: it does not end with its process, because what the process has asked for may still be on its way.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { after, seconds, timestamp, type Now } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import { leaseLife } from './leases.ts';
import { outlivesProcess } from './processes.ts';

interface RemovingOptions {
  records: Pick<Records, 'passing' | 'leases'>;
  now: Now;
  /** Milliseconds that a lease lasts. */
  life?: number;
  /** A clock that nobody sets, in milliseconds. */
  elapsed?: () => number;
}

/** How long a removal may still be done after the last look. */
const late = seconds(30);
/** What was taken so lately need not be taken again. */
const fresh = seconds(5);
/** How often it is looked whether a removal is over. */
const every = 250;

export function createRemoving({ records, now, life = leaseLife, elapsed = () => performance.now() }: RemovingOptions) {
  const nameOf = (sha3_384: string): string => `remove ${sha3_384}`;

  function lease(sha3_384: string) {
    const [name, holder] = [nameOf(sha3_384), `${outlivesProcess}${randomUUID()}`];
    let takenAt = -Infinity;
    const take = async (): Promise<boolean> => {
      const began = elapsed();
      const moment = now();
      const [endsAt, tooLate] = [timestamp(after(moment, life)), timestamp(after(moment, 2 * life))];
      const isOurs = await records.passing(({ leases }) =>
        leases.take(name, holder, { now: timestamp(moment), endsAt, tooLate }),
      );
      if (isOurs) takenAt = began;
      return isOurs;
    };
    return {
      take,
      left: () => life - (elapsed() - takenAt),
      release: () => records.passing(({ leases }) => leases.release(name, holder)),
    };
  }

  return {
    async alone<Result>(
      sha3_384: string,
      work: (certain: <Found>(look: () => Promise<Found>) => Promise<Found>) => Promise<Result>,
    ): Promise<{ result: Result } | undefined> {
      const { take, left, release } = lease(sha3_384);
      if (!(await take())) return undefined;
      // A renewal that fails is tried again; whether the lease is still held is asked before anything is removed.
      const renewal = setInterval(() => void take().catch(() => undefined), life / 4).unref();
      try {
        const result = await work(async (look) => {
          if (left() < life - fresh && !(await take())) throw lost();
          const found = await look();
          if (left() < late) throw lost();
          return found;
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

const lost = (): Error => new Error('cannot remove a blob: another process may have begun to do so meanwhile');

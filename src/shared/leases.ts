// Leases: one process at a time does what a lease is for. Whoever holds one says again and again that it goes on; what a
// process that died has held is free within a minute.
import { after, seconds, timestamp, type Now } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';

export interface Leases {
  /**
   * Takes a lease and does the work; nothing when another process holds it. `keep` says of what was done that the lease is
   * not given back: nobody is to do that again, and it ends by itself.
   */
  holding<Result>(
    name: string,
    work: () => Promise<Result>,
    keep?: (result: Result) => boolean,
  ): Promise<{ result: Result } | undefined>;
}

export interface LeaseOptions {
  records: Pick<Records, 'passing'>;
  /** What this process is called, of all processes that there are and were; see processes.ts. */
  holder: string;
  now: Now;
  /** Milliseconds that a lease lasts unless its holder says that it goes on. */
  life?: number;
}

/** So long the work of a process that died is left alone. */
export const leaseLife = seconds(60);

/** Milliseconds after which a lease that could not be given back is given back. */
const again = seconds(1);

export function createLeases({ records, holder, now, life = leaseLife }: LeaseOptions): Leases {
  let count = 0;

  const take = (name: string, holder: string): Promise<boolean> =>
    records.passing(({ leases }) => {
      const moment = now();
      const [endsAt, tooLate] = [timestamp(after(moment, life)), timestamp(after(moment, 2 * life))];
      return leases.take(name, holder, { now: timestamp(moment), endsAt, tooLate });
    });

  /** What the records cannot be told now they are told soon: until then, or until the lease ends, nobody else would do it. */
  const giveBack = async (name: string, mine: string, until = performance.now() + life): Promise<void> => {
    try {
      await records.passing(({ leases }) => leases.release(name, mine));
    } catch {
      if (performance.now() < until) setTimeout(() => void giveBack(name, mine, until), again).unref();
    }
  };

  return {
    async holding(name, work, keep = () => false) {
      // Its own each time: this process, too, does it once at a time.
      const mine = `${holder} ${++count}`;
      if (!(await take(name, mine))) return undefined;
      // A renewal that fails is tried again; if it fails until the end, what is done is held against the records anyhow.
      const renewal = setInterval(() => {
        take(name, mine).catch(() => undefined);
      }, life / 4).unref();
      let kept = false;
      try {
        const result = await work();
        kept = keep(result);
        return { result };
      } finally {
        clearInterval(renewal);
        if (!kept) await giveBack(name, mine);
      }
    },
  };
}

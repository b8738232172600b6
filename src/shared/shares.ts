// Shares: what each process holds of something that all of a store have together. What a process held that is no more is
// nobody's: whoever looks next finds it free.
import type { Now } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import type { Share } from '#records/shares.ts';
import { isHere, living } from './processes.ts';

export interface ShareOptions {
  records: Pick<Records, 'leases' | 'shares' | 'passing'>;
  /** What this process is called, of all processes that there are and were; see processes.ts. */
  holder: string;
  now: Now;
  /** Whether each host has its own of what is shared, as of its disk, and only its own processes share it. */
  ofHost: boolean;
}

export function createShares({ records, holder, now, ofHost }: ShareOptions) {
  let isHolding = false;
  const isOther = (share: Share): boolean => share.holder !== holder && (!ofHost || isHere(share.holder));
  const holders = (shares: readonly Share[]): string[] => shares.map((share) => share.holder);
  return {
    /** What the others hold. */
    async others(): Promise<Share[]> {
      const others = (await records.shares.all()).filter(isOther);
      const goesOn = await living(records, holders(others), now);
      return others.filter((share) => goesOn(share.holder));
    },

    /**
     * Holds as much of something as `decide` says, which is told how much of it the others hold and answers at once; gives
     * that back when it is durable. What `decide` throws leaves everything as it was.
     */
    hold: (name: string, decide: (others: number) => number): Promise<number> =>
      records.passing(async ({ leases, shares }) => {
        const all = await shares.of(name);
        const others = all.filter(isOther);
        const goesOn = await living({ leases }, holders(others), now);
        const gone = others.filter((share) => !goesOn(share.holder));
        for (const share of gone) await shares.releaseAll(share.holder);
        const held = others.reduce((sum, share) => (gone.includes(share) ? sum : sum + share.amount), 0);
        const amount = decide(held);
        isHolding ||= amount > 0;
        if (amount !== (all.find((share) => share.holder === holder)?.amount ?? 0)) {
          await shares.set({ name, holder, amount });
        }
        return amount;
      }),

    /** Gives everything back. */
    async end(): Promise<void> {
      if (isHolding) await records.passing(({ shares }) => shares.releaseAll(holder));
    },
  };
}

// Shares: what each process holds of something that all of a store have together. What a process held that is no more is
// nobody's: whoever looks next finds it free.
import type { Records } from '#records/index.ts';
import type { Share } from '#records/shares.ts';
import { isRunning } from './processes.ts';

/** `holder` is what this process is called, of all processes that there are and were; see processes.ts. */
export function createShares(records: Pick<Records, 'shares' | 'passing'>, holder: string) {
  let isHolding = false;
  return {
    /** What the others hold. */
    others: async (): Promise<Share[]> =>
      (await records.shares.all()).filter((share) => share.holder !== holder && isRunning(share.holder)),

    /**
     * Holds as much of something as `decide` says, which is told how much of it the others hold and answers at once; gives
     * that back when it is durable. What `decide` throws leaves everything as it was.
     */
    hold: (name: string, decide: (others: number) => number): Promise<number> =>
      records.passing(async ({ shares }) => {
        let [own, others] = [0, 0];
        for (const share of await shares.of(name)) {
          if (share.holder === holder) own = share.amount;
          else if (isRunning(share.holder)) others += share.amount;
          else await shares.releaseAll(share.holder);
        }
        const amount = decide(others);
        isHolding ||= amount > 0;
        if (amount !== own) await shares.set({ name, holder, amount });
        return amount;
      }),

    /** Gives everything back. */
    async end(): Promise<void> {
      if (isHolding) await records.passing(({ shares }) => shares.releaseAll(holder));
    },
  };
}

// Shares: the part of a common amount that each process holds. The share of a process that has ended is free at the
// next check.
import type { Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Share } from '#records/store/shares.ts';
import { isOnThisHost, createLivenessCheck } from './processes.ts';

export interface ShareOptions {
  records: Pick<StoreRecords, 'leases' | 'shares' | 'ephemeral'>;
  /** The unique name of this process among all present and past ones; see processes.ts. */
  holder: string;
  now: Now;
  /** Whether each host has an amount of its own, such as its disk, so that only its processes share it. */
  ofHost: boolean;
}

export function createShares({ records, holder, now, ofHost }: ShareOptions) {
  let isHolding = false;
  const isOther = (share: Share): boolean => share.holder !== holder && (!ofHost || isOnThisHost(share.holder));
  const holders = (shares: readonly Share[]): string[] => shares.map((share) => share.holder);
  return {
    /** The shares of the other processes. */
    async others(): Promise<Share[]> {
      const others = (await records.shares.all()).filter(isOther);
      const goesOn = await createLivenessCheck(records, holders(others), now);
      return others.filter((share) => goesOn(share.holder));
    },

    /**
     * Holds the amount that `decide` returns, and resolves to it when it is durable. `decide` gets the total of the
     * other processes and must be synchronous. If it throws, nothing changes.
     */
    hold: (name: string, decide: (others: number) => number): Promise<number> =>
      records.ephemeral(async ({ leases, shares }) => {
        const all = await shares.of(name);
        const others = all.filter(isOther);
        const goesOn = await createLivenessCheck({ leases }, holders(others), now);
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

    /** Releases all shares. */
    async end(): Promise<void> {
      if (isHolding) await records.ephemeral(({ shares }) => shares.releaseAll(holder));
    },
  };
}

// The change feed: what was done to the store, in order, for those who keep something that follows it.
import { Refusal } from '#domain/refusal.ts';
import type { Done } from '#records/audit.ts';
import type { Records } from '#records/index.ts';
import { createWaiting } from './waiting.ts';

/** What somebody knows of the feed already. */
export interface Known {
  /** The number up to which he has been told; nothing for where the feed stands. */
  since: number | undefined;
  /** The epoch in which that number was told. */
  epoch: string | undefined;
}

export interface Told {
  changes: Done[];
  /** The number to go on from: also what is not told counts. */
  next: number;
  epoch: string;
}

export interface ChangeFeed {
  /**
   * What was done since, the oldest first, and at most `limit`; where there is nothing, waits so many milliseconds for it.
   * Refused with `reset` where the records have been put back since, so that what follows that number is not known.
   */
  read(known: Known, options: { limit: number; patience: number; signal: AbortSignal }): Promise<Told>;
  /** Sends everybody away who waits. */
  close(): void;
}

/** So many may wait at once. */
const mostWaiting = 64;

export function createChangeFeed(
  { audit, appliance }: Pick<Records, 'audit' | 'appliance'>,
  most = mostWaiting,
): ChangeFeed {
  const waiting = createWaiting();
  let waiters = 0;

  /** The epoch; refused where it is not the one that is known, or the number is one that nothing has yet. */
  async function epochFor({ since = 0, epoch }: Known): Promise<string> {
    const current = await appliance.find('store-epoch');
    if (current === undefined) throw new Error('the records have no store-epoch');
    if (epoch !== undefined && epoch !== current) throw reset();
    if (since > ((await audit.head())?.seq ?? 0)) throw reset();
    return current;
  }

  async function follow(
    next: number,
    epoch: string,
    { limit, patience, signal }: Parameters<ChangeFeed['read']>[1],
  ): Promise<Told> {
    let at = next;
    const look = async (): Promise<Done[] | undefined> => {
      await epochFor({ since: at, epoch });
      const looked = await audit.done(at, limit);
      at = looked.at(-1)?.seq ?? at;
      const changes = looked.filter(({ outcome }) => outcome !== 'refused');
      return changes.length > 0 ? changes : undefined;
    };
    const changes = patience > 0 ? await waiting.until('changes', look, { patience, signal }) : await look();
    return { changes: changes ?? [], next: at, epoch };
  }

  return {
    async read(known, options) {
      const epoch = await epochFor(known);
      if (known.since === undefined) return { changes: [], next: (await audit.head())?.seq ?? 0, epoch };
      if (options.patience === 0) return follow(known.since, epoch, options);
      if (waiters >= most) {
        throw new Refusal('too-many-requests', `${most} clients wait for changes already; ask without 'wait'.`, 5);
      }
      waiters++;
      try {
        return await follow(known.since, epoch, options);
      } finally {
        waiters--;
      }
    },
    close() {
      waiting.close();
    },
  };
}

const reset = (): Refusal =>
  new Refusal(
    'reset',
    'The records of the store have been put back since: read anew what you keep, and begin again without a number.',
  );

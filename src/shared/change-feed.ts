// The change feed: the acts of the store in order, for clients that follow it.
import { Refusal } from '#domain/refusal.ts';
import type { ChangeFeedEntry } from '#records/audit/audit.ts';
import type { StoreRecords } from '#records/index.ts';
import { createChangeWaiter } from './change-waiter.ts';

/** The position of a client in the feed. */
export interface FeedPosition {
  /** The number of the last change that the client has received; undefined to learn the current number. */
  since: number | undefined;
  /** The epoch of that number. */
  epoch: string | undefined;
}

export interface FeedPage {
  changes: ChangeFeedEntry[];
  /** The number to continue from. It includes changes that are not in the list. */
  next: number;
  epoch: string;
}

export interface ChangeFeed {
  /**
   * Returns the changes since then, the oldest first, at most `limit`. If there are none, waits up to `timeoutMs`
   * milliseconds for some. Refused with `reset` if the store was restored since, because the changes after that number
   * are then unknown.
   */
  read(position: FeedPosition, options: { limit: number; timeoutMs: number; signal: AbortSignal }): Promise<FeedPage>;
  /** Ends all waiting calls. */
  close(): void;
}

/** The maximum number of waiting clients. */
const maxWaitingClients = 64;

export function createChangeFeed(
  { audit, appliance }: Pick<StoreRecords, 'audit' | 'appliance'>,
  maxWaiters = maxWaitingClients,
): ChangeFeed {
  const waiting = createChangeWaiter();
  let waiters = 0;

  /** The current epoch. Refused if the client's epoch is another one, or if its number does not exist yet. */
  async function epochFor({ since = 0, epoch }: FeedPosition): Promise<string> {
    const current = await appliance.find('store-epoch');
    if (current === undefined) throw new Error('the records have no store-epoch');
    if (epoch !== undefined && epoch !== current) throw reset();
    if (since > ((await audit.head())?.seq ?? 0)) throw reset();
    return current;
  }

  async function follow(
    next: number,
    epoch: string,
    { limit, timeoutMs, signal }: Parameters<ChangeFeed['read']>[1],
  ): Promise<FeedPage> {
    let at = next;
    const look = async (): Promise<ChangeFeedEntry[] | undefined> => {
      await epochFor({ since: at, epoch });
      const looked = await audit.done(at, limit);
      at = looked.at(-1)?.seq ?? at;
      const changes = looked.filter(({ outcome }) => outcome !== 'refused');
      return changes.length > 0 ? changes : undefined;
    };
    const changes = timeoutMs > 0 ? await waiting.until('changes', look, { timeoutMs, signal }) : await look();
    return { changes: changes ?? [], next: at, epoch };
  }

  return {
    async read(position, options) {
      const epoch = await epochFor(position);
      if (position.since === undefined) return { changes: [], next: (await audit.head())?.seq ?? 0, epoch };
      if (options.timeoutMs === 0) return follow(position.since, epoch, options);
      if (waiters >= maxWaiters) {
        throw new Refusal(
          'too-many-requests',
          `${maxWaiters} clients wait for changes already. Ask without 'wait'.`,
          5,
        );
      }
      waiters++;
      try {
        return await follow(position.since, epoch, options);
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
    'The records of the store were restored from a backup. Read all data again, and start the feed without a number.',
  );

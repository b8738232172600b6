// The change feed: the acts of the store in order, for clients that follow it.
import { Refusal } from '#domain/refusal.ts';
import type { Done } from '#records/audit.ts';
import type { Records } from '#records/index.ts';
import { createWaiting } from './waiting.ts';

/** The position of a client in the feed. */
export interface Known {
  /** The number of the last change that the client has received; undefined to learn the current number. */
  since: number | undefined;
  /** The epoch of that number. */
  epoch: string | undefined;
}

export interface Told {
  changes: Done[];
  /** The number to continue from. It includes changes that are not in the list. */
  next: number;
  epoch: string;
}

export interface ChangeFeed {
  /**
   * Returns the changes since then, the oldest first, at most `limit`. If there are none, waits up to `patience`
   * milliseconds for some. Refused with `reset` if the store was restored since, because the changes after that number
   * are then unknown.
   */
  read(known: Known, options: { limit: number; patience: number; signal: AbortSignal }): Promise<Told>;
  /** Ends all waiting calls. */
  close(): void;
}

/** The maximum number of waiting clients. */
const mostWaiting = 64;

export function createChangeFeed(
  { audit, appliance }: Pick<Records, 'audit' | 'appliance'>,
  most = mostWaiting,
): ChangeFeed {
  const waiting = createWaiting();
  let waiters = 0;

  /** The current epoch. Refused if the client's epoch is another one, or if its number does not exist yet. */
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

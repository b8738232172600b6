// A limit on concurrent work. Waiting work starts in order of arrival. If the queue is bounded too, each client has a
// share of it, and familiar clients have precedence.
import { Refusal } from './refusal.ts';

/** The client of queued work. */
export interface Turn {
  client: string | symbol;
  /** Whether the client has logged in to this account from there before. */
  isFamiliar: boolean;
}

export interface ConcurrencyLimitOptions {
  /** The maximum number of concurrent pieces of work. */
  concurrency: number;
  /**
   * Bounds of the queue; work beyond them is refused with `too-many-requests`. If undefined, the queue is unbounded.
   */
  waiting?: {
    atMost: number;
    /** The maximum queue length per client. */
    ofClient: number;
    /** The message of the refusal, for a person. */
    refusal: string;
  };
}

/**
 * Runs the work when its turn comes and returns its result. Work without a turn counts as that of a familiar client.
 */
export type ConcurrencyLimit = <Result>(work: () => Promise<Result>, turn?: Turn) => Promise<Result>;

interface QueuedTurn extends Turn {
  start(): void;
  refuse(reason: Refusal): void;
}

/** Creates a limit; all work that is run through it shares the limit. */
export function createConcurrencyLimit({
  concurrency,
  waiting: queueLimits,
}: ConcurrencyLimitOptions): ConcurrencyLimit {
  const waiting: QueuedTurn[] = [];
  let running = 0;
  const tooMany = (): Refusal => new Refusal('too-many-requests', queueLimits?.refusal ?? '', 2);
  const of = (client: Turn['client']): QueuedTurn[] => waiting.filter((queued) => queued.client === client);

  /** Removes the last unfamiliar client of a list from the queue. */
  const pushOut = (among: QueuedTurn[]): boolean => {
    const last = among.findLast(({ isFamiliar }) => !isFamiliar);
    if (last === undefined) return false;
    waiting.splice(waiting.indexOf(last), 1);
    last.refuse(tooMany());
    return true;
  };

  /** Whether the queue has room for another piece of work, or room can be made. */
  const hasRoom = ({ client, isFamiliar }: Turn): boolean => {
    if (queueLimits === undefined) return true;
    const own = of(client);
    if (own.length >= queueLimits.ofClient) return isFamiliar && pushOut(own);
    if (waiting.length < queueLimits.atMost) return true;
    const strangers = waiting.filter((queued) => !queued.isFamiliar);
    const crowds = [...Map.groupBy(strangers, (queued) => queued.client).values()];
    const largest = crowds.sort((a, b) => b.length - a.length)[0] ?? [];
    return (isFamiliar || largest.length > own.length + 1) && pushOut(largest);
  };

  const place = async (turn: Turn): Promise<void> => {
    if (!hasRoom(turn)) throw tooMany();
    await new Promise<void>((start, refuse) => {
      const firstStranger = waiting.findIndex(({ isFamiliar }) => !isFamiliar);
      waiting.splice(turn.isFamiliar && firstStranger >= 0 ? firstStranger : waiting.length, 0, {
        ...turn,
        start,
        refuse,
      });
    });
  };

  return async (work, turn = { client: Symbol('nobody'), isFamiliar: true }) => {
    // Finished work passes its slot on directly, so that new work cannot overtake the queue.
    if (running >= concurrency) await place(turn);
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next.start();
    }
  };
}

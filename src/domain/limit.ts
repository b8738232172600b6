// A limit on concurrent work. Waiting work starts in order of arrival. If the queue is bounded too, each client has a
// share of it, and familiar clients have precedence.
import { Refusal } from './refusal.ts';

/** The client of queued work. */
export interface Turn {
  client: string | symbol;
  /** Whether the client has logged in to this account from there before. */
  isFamiliar: boolean;
}

export interface LimitOptions {
  /** The maximum number of concurrent pieces of work. */
  atOnce: number;
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
export type Limit = <Result>(work: () => Promise<Result>, turn?: Turn) => Promise<Result>;

interface Waiting extends Turn {
  start(): void;
  refuse(reason: Refusal): void;
}

/** Creates a limit; all work that is run through it shares the limit. */
export function limit({ atOnce, waiting: most }: LimitOptions): Limit {
  const waiting: Waiting[] = [];
  let running = 0;
  const tooMany = (): Refusal => new Refusal('too-many-requests', most?.refusal ?? '', 2);
  const of = (client: Turn['client']): Waiting[] => waiting.filter((one) => one.client === client);

  /** Removes the last unfamiliar client of a list from the queue. */
  const pushOut = (among: Waiting[]): boolean => {
    const last = among.findLast(({ isFamiliar }) => !isFamiliar);
    if (last === undefined) return false;
    waiting.splice(waiting.indexOf(last), 1);
    last.refuse(tooMany());
    return true;
  };

  /** Whether the queue has room for another piece of work, or room can be made. */
  const hasRoom = ({ client, isFamiliar }: Turn): boolean => {
    if (most === undefined) return true;
    const own = of(client);
    if (own.length >= most.ofClient) return isFamiliar && pushOut(own);
    if (waiting.length < most.atMost) return true;
    const strangers = waiting.filter((one) => !one.isFamiliar);
    const crowds = [...Map.groupBy(strangers, (one) => one.client).values()];
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
    if (running >= atOnce) await place(turn);
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

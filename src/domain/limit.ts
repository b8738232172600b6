// A limit on how much is done at a time. Those who wait come in their order; where their number has a limit too, each
// client has a share of it, and those who are known come first.
import { Refusal } from './refusal.ts';

/** Who waits. */
export interface Turn {
  client: string | symbol;
  /** Whether somebody has logged in as this one from there before. */
  isFamiliar: boolean;
}

export interface LimitOptions {
  /** How many work at the same time. */
  atOnce: number;
  /** How many wait at most; the others are refused with `too-many-requests`. Left out, as many wait as come. */
  waiting?: {
    atMost: number;
    /** How many of one client wait at most. */
    ofClient: number;
    /** What those are told who are refused, for a person. */
    refusal: string;
  };
}

/** Does the work when its turn comes, and gives what comes of it; work without a turn is somebody's whom we know. */
export type Limit = <Result>(work: () => Promise<Result>, turn?: Turn) => Promise<Result>;

interface Waiting extends Turn {
  start(): void;
  refuse(reason: Refusal): void;
}

/** A limit of its own, shared by all that is done through what this gives. */
export function limit({ atOnce, waiting: most }: LimitOptions): Limit {
  const waiting: Waiting[] = [];
  let running = 0;
  const tooMany = (): Refusal => new Refusal('too-many-requests', most?.refusal ?? '', 2);
  const of = (client: Turn['client']): Waiting[] => waiting.filter((one) => one.client === client);

  /** Takes out the last stranger of these. */
  const pushOut = (among: Waiting[]): boolean => {
    const last = among.findLast(({ isFamiliar }) => !isFamiliar);
    if (last === undefined) return false;
    waiting.splice(waiting.indexOf(last), 1);
    last.refuse(tooMany());
    return true;
  };

  /** Whether there is, or can be made, room for one more. */
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
    // Whoever finishes hands his place on, so that nobody slips in between.
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

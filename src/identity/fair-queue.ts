// A queue that nobody fills for the others: each client has a share of it, and those who are known come first.
import { Refusal } from '#domain/refusal.ts';

/** Who waits. */
export interface Turn {
  client: string | symbol;
  /** Whether somebody has logged in as this one from there before. */
  isFamiliar: boolean;
}

export interface QueueOptions {
  /** How many work at the same time. */
  atOnce: number;
  /** How many wait at most; the others are refused. */
  length: number;
  /** How many of one client wait at most. */
  ofClient: number;
}

export type InTurn = <Result>(work: () => Promise<Result>, turn?: Turn) => Promise<Result>;

interface Waiting extends Turn {
  start(): void;
  refuse(reason: Refusal): void;
}

/** Work without a turn is somebody's of his own whom we know, such as a command's. */
export function fairQueue({ atOnce, length, ofClient }: QueueOptions): InTurn {
  const waiting: Waiting[] = [];
  let running = 0;
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
    const own = of(client);
    if (own.length >= ofClient) return isFamiliar && pushOut(own);
    if (waiting.length < length) return true;
    const strangers = waiting.filter((one) => !one.isFamiliar);
    const most = [...Map.groupBy(strangers, (one) => one.client).values()].sort((a, b) => b.length - a.length)[0] ?? [];
    return (isFamiliar || most.length > own.length + 1) && pushOut(most);
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

const tooMany = (): Refusal =>
  new Refusal('too-many-requests', 'Too many people are logging in just now; try again in a few seconds.', 2);

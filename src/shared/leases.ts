// Leases: one process at a time does what a lease is for. Whoever holds one says again and again that it goes on; what a
// process that died has held is free within a minute.
import { setImmediate as nextTurn } from 'node:timers/promises';

import { after, seconds, timestamp, type Now } from '#domain/clock.ts';
import type { Passing, Records } from '#records/index.ts';

export interface Leases {
  /**
   * Takes a lease and does the work; nothing when another process holds it. `keep` says of what was done that the lease is
   * not given back: nobody is to do that again, and it ends by itself.
   */
  holding<Result>(
    name: string,
    work: () => Promise<Result>,
    keep?: (result: Result) => boolean,
  ): Promise<{ result: Result } | undefined>;
}

/** The leases of a process that serves, which gives all of them back when it stops. */
export interface OwnLeases extends Leases {
  /** From here on no work is begun, and what was held for work that ends is kept until all of it is given back. */
  end(): void;
  /** Gives that back at once; where the records are away, it ends by itself. */
  giveBack(): Promise<void>;
}

export interface LeaseOptions {
  records: Pick<Records, 'passing'>;
  /** What this process is called, of all processes that there are and were; see processes.ts. */
  holder: string;
  now: Now;
  /** Milliseconds that a lease lasts unless its holder says that it goes on. */
  life?: number;
}

/** So long the work of a process that died is left alone. */
export const leaseLife = seconds(60);

/** Milliseconds after which a lease that could not be given back is given back. */
const again = seconds(1);

export function createLeases({ records, holder, now, life = leaseLife }: LeaseOptions): OwnLeases {
  const rounds = new Rounds(records, now, life);
  const ended: string[] = [];
  let isOver = false;
  const isEnding = (): boolean => isOver;
  let count = 0;

  /** What the records cannot be told now they are told soon: until then, or until the lease ends, nobody else would do it. */
  const giveBack = async (mine: string, until = performance.now() + life): Promise<void> => {
    if (isEnding()) return void ended.push(mine);
    try {
      await rounds.giveBack([mine]);
    } catch {
      if (performance.now() < until) setTimeout(() => void giveBack(mine, until), again).unref();
    }
  };

  return {
    async holding(name, work, keep = () => false) {
      if (isEnding()) return undefined;
      // Its own each time: this process, too, does it once at a time.
      const mine = `${holder} ${++count}`;
      if (!(await rounds.take(name, mine))) return undefined;
      if (isEnding()) return void ended.push(mine);
      // A renewal that fails is tried again; if it fails until the end, what is done is held against the records anyhow.
      const renewal = setInterval(() => {
        rounds.take(name, mine).catch(() => undefined);
      }, life / 4).unref();
      let kept = false;
      try {
        const result = await work();
        kept = keep(result);
        return { result };
      } finally {
        clearInterval(renewal);
        if (!kept) await giveBack(mine);
      }
    },

    end() {
      isOver = true;
    },

    async giveBack() {
      if (ended.length > 0) await rounds.giveBack(ended.splice(0)).catch(() => undefined);
    },
  };
}

/** What somebody asks of the records: to take or renew a lease, or to give some back. */
interface Asked {
  taken?: { name: string; holder: string };
  given?: readonly string[];
  resolve(held: ReadonlySet<string>): void;
  reject(error: unknown): void;
}

/**
 * What is asked while others are answered is asked together: where each answer of a server takes seconds, leases that are taken one
 * after the other would end before the last of them is taken, and so would those that are renewed behind them.
 */
class Rounds {
  readonly #records: Pick<Records, 'passing'>;
  readonly #now: Now;
  readonly #life: number;
  #asked: Asked[] = [];
  #isRunning = false;

  constructor(records: Pick<Records, 'passing'>, now: Now, life: number) {
    this.#records = records;
    this.#now = now;
    this.#life = life;
  }

  /** Takes or renews one; whether it is held. */
  async take(name: string, holder: string): Promise<boolean> {
    return (await this.#ask({ taken: { name, holder } })).has(holder);
  }

  async giveBack(given: readonly string[]): Promise<void> {
    await this.#ask({ given });
  }

  #ask(asked: Pick<Asked, 'taken' | 'given'>): Promise<ReadonlySet<string>> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ ...asked, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#asked.length > 0) {
      await nextTurn();
      const round = this.#asked.splice(0);
      try {
        const held = await this.#records.passing(({ leases }) => this.#tell(leases, round));
        for (const { resolve } of round) resolve(held);
      } catch (error) {
        for (const { reject } of round) reject(error);
      }
    }
    this.#isRunning = false;
  }

  async #tell(leases: Passing['leases'], round: readonly Asked[]): Promise<ReadonlySet<string>> {
    const given = round.flatMap((asked) => asked.given ?? []);
    // Of several who want the same one the first; and whoever gives one back has not meant to renew it.
    const wanted = new Map<string, { name: string; holder: string }>();
    for (const { taken } of round) {
      if (taken !== undefined && !given.includes(taken.holder) && !wanted.has(taken.name))
        wanted.set(taken.name, taken);
    }
    const moment = this.#now();
    const [endsAt, tooLate] = [timestamp(after(moment, this.#life)), timestamp(after(moment, 2 * this.#life))];
    if (given.length > 0) await leases.releaseEach(given);
    if (wanted.size === 0) return new Set();
    return new Set(await leases.takeEach([...wanted.values()], { now: timestamp(moment), endsAt, tooLate }));
  }
}

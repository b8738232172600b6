// Leases: one process at a time does a named piece of work. The holder renews its lease; if its process dies, the lease
// is free within a minute.
import { setImmediate as nextTurn } from 'node:timers/promises';

import { after, seconds, timestamp, type Now } from '#domain/clock.ts';
import type { EphemeralRecords, StoreRecords } from '#records/index.ts';

export interface Leases {
  /**
   * Takes a lease and runs the work; undefined if another process holds the lease. If `keep` returns true for the
   * result, the lease is not released but expires, so that no process repeats the work until then.
   */
  withLease<Result>(
    name: string,
    work: () => Promise<Result>,
    keep?: (result: Result) => boolean,
  ): Promise<{ result: Result } | undefined>;
}

/** The leases of a serving process, which releases all of them when it stops. */
export interface OwnLeases extends Leases {
  /** Prevents new work. Running work continues, and its leases stay until `releaseLeases`, so that no other process starts the same work. */
  end(): void;
  /** Releases these leases at once. If the records are unavailable, they expire. */
  releaseLeases(): Promise<void>;
}

export interface LeaseOptions {
  records: Pick<StoreRecords, 'ephemeral'>;
  /** The unique name of this process among all present and past ones; see processes.ts. */
  holder: string;
  now: Now;
  /** The life of a lease in milliseconds; the holder renews it. */
  life?: number;
}

/** How long the lease of a process that died blocks other processes. */
export const leaseLifeMs = seconds(60);

/** The delay in milliseconds before a failed release is retried. */
const again = seconds(1);

export function createLeases({ records, holder, now, life = leaseLifeMs }: LeaseOptions): OwnLeases {
  const rounds = new LeaseRounds(records, now, life);
  const ended: string[] = [];
  let isOver = false;
  const isEnding = (): boolean => isOver;
  let count = 0;

  /** Retries a failed release until the lease expires, because until then no other process could do the work. */
  const releaseLeases = async (mine: string, until = performance.now() + life): Promise<void> => {
    if (isEnding()) return void ended.push(mine);
    try {
      await rounds.releaseLeases([mine]);
    } catch {
      if (performance.now() < until) setTimeout(() => void releaseLeases(mine, until), again).unref();
    }
  };

  return {
    async withLease(name, work, keep = () => false) {
      if (isEnding()) return undefined;
      // A holder of its own for each piece of work, so that this process too does it only once at a time.
      const mine = `${holder} ${++count}`;
      if (!(await rounds.take(name, mine))) return undefined;
      if (isEnding()) return void ended.push(mine);
      // A failed renewal is retried. If it fails until the lease expires, the result is checked against the records
      // anyway.
      const renewal = setInterval(() => {
        rounds.take(name, mine).catch(() => undefined);
      }, life / 4).unref();
      let isKept = false;
      try {
        const result = await work();
        isKept = keep(result);
        return { result };
      } finally {
        clearInterval(renewal);
        if (!isKept) await releaseLeases(mine);
      }
    },

    end() {
      isOver = true;
    },

    async releaseLeases() {
      if (ended.length > 0) await rounds.releaseLeases(ended.splice(0)).catch(() => undefined);
    },
  };
}

/** A request to the records: take or renew a lease, or release some. */
interface LeaseRequest {
  taken?: { name: string; holder: string };
  released?: readonly string[];
  resolve(held: ReadonlySet<string>): void;
  reject(error: unknown): void;
}

/**
 * Combines requests into rounds: all that arrive during one round are sent together in the next. If a server takes
 * seconds per reply, leases taken one after another would expire before the last one is taken, and renewals behind them
 * too.
 */
class LeaseRounds {
  readonly #records: Pick<StoreRecords, 'ephemeral'>;
  readonly #now: Now;
  readonly #life: number;
  #asked: LeaseRequest[] = [];
  #isRunning = false;

  constructor(records: Pick<StoreRecords, 'ephemeral'>, now: Now, life: number) {
    this.#records = records;
    this.#now = now;
    this.#life = life;
  }

  /** Takes or renews a lease; returns whether it is held. */
  async take(name: string, holder: string): Promise<boolean> {
    return (await this.#ask({ taken: { name, holder } })).has(holder);
  }

  async releaseLeases(holders: readonly string[]): Promise<void> {
    await this.#ask({ released: holders });
  }

  #ask(request: Pick<LeaseRequest, 'taken' | 'released'>): Promise<ReadonlySet<string>> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ ...request, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#asked.length > 0) {
      await nextTurn();
      const round = this.#asked.splice(0);
      try {
        const held = await this.#records.ephemeral(({ leases }) => this.#tell(leases, round));
        for (const { resolve } of round) resolve(held);
      } catch (error) {
        for (const { reject } of round) reject(error);
      }
    }
    this.#isRunning = false;
  }

  async #tell(leases: EphemeralRecords['leases'], round: readonly LeaseRequest[]): Promise<ReadonlySet<string>> {
    const released = round.flatMap((request) => request.released ?? []);
    // Of several requests for the same lease, the first wins. A lease that is released in this round is not renewed.
    const requested = new Map<string, { name: string; holder: string }>();
    for (const { taken } of round) {
      if (taken !== undefined && !released.includes(taken.holder) && !requested.has(taken.name))
        requested.set(taken.name, taken);
    }
    const moment = this.#now();
    const [endsAt, tooLate] = [timestamp(after(moment, this.#life)), timestamp(after(moment, 2 * this.#life))];
    if (released.length > 0) await leases.releaseEach(released);
    if (requested.size === 0) return new Set();
    return new Set(await leases.takeEach([...requested.values()], { now: timestamp(moment), endsAt, tooLate }));
  }
}

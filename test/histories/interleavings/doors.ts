// The doors between the processes of a store and the world: database, blobs, clock and waiting. Every call waits at its
// door until the scheduler lets it pass. There it may also fail, or be the last call of its process.
import { AsyncLocalStorage } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

import type { Scheduler } from 'fast-check';

export type Door = 'database' | 'change' | 'answer' | 'blobs' | 'waiting' | 'work';

/** An accident at the call with this number: it fails, its process ends, or the clock of its process is set. */
export interface Accident {
  call: number;
  kind: 'fail' | 'end' | 'clock';
}

/** The part of a process of a store that the doors know. */
export interface Passenger {
  readonly name: string;
  hasEnded: boolean;
  /** Renewals of leases, which end with the process. */
  readonly intervals: Set<NodeJS.Timeout>;
  end(): void;
  setClock(): void;
  /** The error of a call that fails at this door; undefined if calls at it do not fail. */
  failureAt(door: Door): Error | undefined;
}

const never = <Result>(): Promise<Result> => new Promise(() => undefined);

/** Lets everything that can continue do so, before the next call passes. */
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** How far waits may move the time while a process works under a lease, in milliseconds: it would renew the lease. */
const maxLeasedMs = 20_000;

export class Doors {
  readonly #scheduler: Scheduler;
  readonly #accidents: Map<number, Accident['kind']>;
  #isOpen = false;
  #calls = 0;
  /** The time that waits have taken. */
  waitedMs = 0;
  /** The processes that take leases or work under them now, and the time that may pass until they end. */
  #leased = 0;
  #leasedMs = 0;

  constructor(scheduler: Scheduler, accidents: readonly Accident[]) {
    this.#scheduler = scheduler;
    this.#accidents = new Map(accidents.map(({ call, kind }) => [call, kind]));
  }

  /** Resolves when this call may pass; never, if its process ends before. */
  async pass(passenger: Passenger, door: Door): Promise<void> {
    const hasEnded = (): boolean => passenger.hasEnded;
    if (hasEnded()) return never();
    if (this.#isOpen) return undefined;
    await this.#scheduler.schedule(Promise.resolve(), `${passenger.name}: ${door}`);
    if (hasEnded()) return never();
    const accident = this.#accidents.get(++this.#calls);
    if (accident === 'end') {
      passenger.end();
      return never();
    }
    if (accident === 'clock') passenger.setClock();
    const failure = accident === 'fail' ? passenger.failureAt(door) : undefined;
    if (failure !== undefined) throw failure;
  }

  /** A request on its way to a server, which also arrives if its process has ended. */
  async arrive(): Promise<void> {
    if (!this.#isOpen) await this.#scheduler.schedule(Promise.resolve(), 'network');
  }

  async wait(passenger: Passenger, milliseconds: number): Promise<void> {
    await this.pass(passenger, 'waiting');
    const passed = this.#leased === 0 ? milliseconds : Math.min(milliseconds, this.#leasedMs);
    this.#leasedMs -= passed;
    this.waitedMs += passed;
  }

  /** Keeps the time from passing the end of a lease during work. */
  async duringLease(work: () => Promise<unknown>): Promise<void> {
    if (this.#leased++ === 0) this.#leasedMs = maxLeasedMs;
    try {
      await work();
    } finally {
      this.#leased--;
    }
  }

  /** Lets calls pass in the order of the scheduler until the work is done. */
  async runUntil(work: Promise<unknown>): Promise<void> {
    const act = async (release: () => Promise<void>): Promise<void> => {
      await release();
      await settle();
    };
    await this.#scheduler.waitFor(work, act);
    await this.#scheduler.waitIdle(act);
  }

  /** From now on every call passes at once. */
  open(): void {
    this.#isOpen = true;
  }
}

const current = new AsyncLocalStorage<{ doors: Doors; passenger: Passenger }>();

/** Runs the work of a process: its waits are at the door too. */
export const runAs = <Result>(doors: Doors, passenger: Passenger, work: () => Result): Result =>
  current.run({ doors, passenger }, work);

const { setTimeout: sleep, setImmediate: nextTurn } = timers;
Object.assign(timers, {
  setTimeout: (milliseconds: number, ...rest: [undefined?, { ref?: boolean }?]) => {
    const place = current.getStore();
    return place === undefined ? sleep(milliseconds, ...rest) : place.doors.wait(place.passenger, milliseconds);
  },
  setImmediate: (...rest: [undefined?]) => {
    const place = current.getStore();
    return place === undefined ? nextTurn(...rest) : place.doors.wait(place.passenger, 0);
  },
});
const { setInterval: repeat } = globalThis;
globalThis.setInterval = (...rest: Parameters<typeof repeat>) => {
  const interval = repeat(...rest);
  current.getStore()?.passenger.intervals.add(interval);
  return interval;
};
syncBuiltinESMExports();

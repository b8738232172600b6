// The place of one worker: the process that is in it now, what is said to it, and what becomes of it.
import cluster, { type Worker } from 'node:cluster';

import type { Answers } from '#appliance/team.ts';
import { seconds } from '#domain/clock.ts';
import { version } from '#src/version.ts';
import { workerVariable, type Order, type Report, type Role } from './messages.ts';

/** How long the others wait for what one of them answers. */
const patience = seconds(2);

/** What the supervisor hears of the worker in a place. */
export interface Heard {
  serves(url: string): void;
  failed(problem: string, atOnce: boolean): void;
  renewed(): void;
  asks(ask: number, what: keyof Answers, own: unknown): void;
  /** `served` is for how many milliseconds; 0 where it never came to that. */
  ended(how: { code: number | null; signal: string | null; served: number }): void;
}

export class Place {
  readonly number: number;
  readonly #heard: Heard;
  #worker: Worker | undefined;
  #servesSince: { moment: string; at: number } | undefined;
  readonly #asked = new Map<number, (answer: unknown) => void>();
  #asks = 0;
  /** How many times in succession it has not answered. */
  unanswered = 0;

  constructor(number: number, heard: Heard) {
    this.number = number;
    this.#heard = heard;
  }

  /** The worker that serves here now. */
  get serving(): { number: number; pid: number; since: string } | undefined {
    const pid = this.#worker?.process.pid;
    if (this.#servesSince === undefined || pid === undefined) return undefined;
    return { number: this.number, pid, since: this.#servesSince.moment };
  }

  /** Whether there is a process in it, serving or not. */
  get isTaken(): boolean {
    return this.#worker !== undefined;
  }

  /** Starts a process in it. */
  begin(role: Omit<Role, 'number' | 'version'>): void {
    const worker = cluster.fork({ [workerVariable]: String(this.number) });
    this.#worker = worker;
    closeWhatIsNeverTaken(worker);
    worker.on('message', (report: Report) => {
      // What one that has ended said last may come when another one is in its place.
      if (this.#worker !== worker) return;
      if (report.report === 'here') this.tell({ order: 'begin', version, number: this.number, ...role });
      else this.#hear(report);
    });
    let hasEnded = false;
    const onEnd = (code: number | null, signal: string | null): void => {
      if (hasEnded) return;
      hasEnded = true;
      const since = this.#servesSince;
      const served = since === undefined ? 0 : performance.now() - since.at;
      this.#worker = this.#servesSince = undefined;
      this.unanswered = 0;
      for (const answer of this.#asked.values()) answer(undefined);
      this.#heard.ended({ code, signal, served });
    };
    // What it said last comes before its end is told.
    worker.process.once('close', onEnd);
    worker.on('error', (error: Error) => {
      if (worker.process.pid !== undefined) return;
      this.#heard.failed(`cannot start a worker: ${error.message}`, false);
      onEnd(null, null);
    });
  }

  tell(order: Order): void {
    // One that ends at this moment hears it no more.
    if (this.#worker?.isConnected() === true) this.#worker.send(order, () => undefined);
  }

  /** What the worker answers; nothing where none serves here, or it does not in time. */
  async ask<What extends keyof Answers>(what: What): Promise<Answers[What] | undefined> {
    if (this.#servesSince === undefined) return undefined;
    const ask = ++this.#asks;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#asked.set(ask, resolve);
    this.tell({ order: 'answer', ask, what });
    const timer = setTimeout(() => {
      this.unanswered++;
      resolve(undefined);
    }, patience);
    const answer = await promise;
    clearTimeout(timer);
    this.#asked.delete(ask);
    return answer as Answers[What] | undefined;
  }

  kill(): void {
    this.#worker?.process.kill('SIGKILL');
  }

  #hear(report: Exclude<Report, { report: 'here' }>): void {
    this.unanswered = 0;
    switch (report.report) {
      case 'serves':
        this.#servesSince = { moment: new Date().toISOString(), at: performance.now() };
        this.#heard.serves(report.url);
        return;
      case 'failed':
        this.#heard.failed(report.problem, report.atOnce);
        return;
      case 'renewed':
        this.#heard.renewed();
        return;
      case 'answer':
        this.#asked.get(report.ask)?.(report.answer);
        return;
      case 'asks':
        this.#heard.asks(report.ask, report.what, report.own);
    }
  }
}

/** A connection as `cluster` passes it; without a descriptor once it is closed here. */
type Passed = { fd: number; close(): void } | undefined;

/**
 * A worker that is killed before it takes the connection that it was passed last would leave it open here, with a client
 * that waits for ever: `cluster` closes its own end only when the worker says that it took it. It passes one at a time.
 */
function closeWhatIsNeverTaken({ process: child }: Worker): void {
  let last: Passed;
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = (...args: unknown[]) => {
    if (typeof args[1] === 'object' && args[1] !== null) last = args[1] as Passed;
    return send(...args);
  };
  child.once('exit', () => {
    if (last !== undefined && last.fd >= 0) last.close();
  });
}

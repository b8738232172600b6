// The place of one worker: its current process, the messages to and from it, and its end.
import cluster, { type Worker } from 'node:cluster';

import type { TeamReplies } from '#appliance/team.ts';
import { seconds } from '#domain/clock.ts';
import { version } from '#platform/version.ts';
import { workerVariable, type Order, type WorkerReport, type WorkerRole } from './messages.ts';

/** Timeout of a worker's reply. */
const replyTimeoutMs = seconds(2);

/** The events of the worker in a place. */
export interface WorkerEvents {
  serves(url: string): void;
  failed(problem: string, isFatal: boolean): void;
  renewed(): void;
  asks(ask: number, kind: keyof TeamReplies, own: unknown): void;
  /** `served` is the time in milliseconds; 0 if it never served. */
  ended(how: { code: number | null; signal: string | null; served: number }): void;
}

export class WorkerSlot {
  readonly number: number;
  readonly #heard: WorkerEvents;
  #worker: Worker | undefined;
  #servesSince: { moment: string; at: number } | undefined;
  readonly #asked = new Map<number, (answer: unknown) => void>();
  #asks = 0;
  /** How many requests in succession it has not answered. */
  unanswered = 0;

  constructor(number: number, heard: WorkerEvents) {
    this.number = number;
    this.#heard = heard;
  }

  /** The serving worker in this place. */
  get serving(): { number: number; pid: number; since: string } | undefined {
    const pid = this.#worker?.process.pid;
    if (this.#servesSince === undefined || pid === undefined) return undefined;
    return { number: this.number, pid, since: this.#servesSince.moment };
  }

  /** Whether there is a process in this place, serving or not. */
  get isTaken(): boolean {
    return this.#worker !== undefined;
  }

  /** Starts a process in this place. */
  begin(role: Omit<WorkerRole, 'number' | 'version'>): void {
    const worker = cluster.fork({ [workerVariable]: String(this.number) });
    this.#worker = worker;
    closeWhatIsNeverTaken(worker);
    worker.on('message', (report: WorkerReport) => {
      // The last messages of a process may arrive after another has replaced it.
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
    // Report the end after its last messages.
    worker.process.once('close', onEnd);
    worker.on('error', (error: Error) => {
      if (worker.process.pid !== undefined) return;
      this.#heard.failed(`cannot start a worker: ${error.message}`, false);
      onEnd(null, null);
    });
  }

  tell(order: Order): void {
    // A worker that ends at this moment does not get the message.
    if (this.#worker?.isConnected() === true) this.#worker.send(order, () => undefined);
  }

  /** Requests a reply; undefined if no worker serves here, or it does not answer in time. */
  async ask<What extends keyof TeamReplies>(kind: What): Promise<TeamReplies[What] | undefined> {
    if (this.#servesSince === undefined) return undefined;
    const ask = ++this.#asks;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#asked.set(ask, resolve);
    this.tell({ order: 'answer', ask, what: kind });
    const timer = setTimeout(() => {
      this.unanswered++;
      resolve(undefined);
    }, replyTimeoutMs);
    const answer = await promise;
    clearTimeout(timer);
    this.#asked.delete(ask);
    return answer as TeamReplies[What] | undefined;
  }

  kill(): void {
    this.#worker?.process.kill('SIGKILL');
  }

  #hear(report: Exclude<WorkerReport, { report: 'here' }>): void {
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

/** A connection that `cluster` passes to a worker; without a descriptor when it is closed in this process. */
type Passed = { fd: number; close(): void } | undefined;

/**
 * Closes a connection that a killed worker did not accept. `cluster` closes its own copy only when the worker confirms,
 * so the connection would stay open here, with a client that waits forever. It passes one connection at a time, also to
 * a worker that has ended until its channel is closed too.
 */
export function closeWhatIsNeverTaken({ process: child }: Pick<Worker, 'process'>): void {
  let last: Passed;
  let hasEnded = false;
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = (...args: unknown[]) => {
    const isPassed = typeof args[1] === 'object' && args[1] !== null;
    if (isPassed) last = args[1] as Passed;
    if (!isPassed || !hasEnded) return send(...args);
    last?.close();
    return false;
  };
  child.once('exit', () => {
    hasEnded = true;
    if (last !== undefined && last.fd >= 0) last.close();
  });
}

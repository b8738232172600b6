// Threads that review uploads or compute digests serve one command after the other, instead of one each: starting one
// costs 50 to 100 ms of processor time, more than the rest of most commands. A lent thread is a real idle one, so its
// user sees no difference. Other threads, and threads that failed, were stopped while they worked, or have other
// limits, end as usual.
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { syncBuiltinESMExports } from 'node:module';
import threads, { type Worker, type WorkerOptions } from 'node:worker_threads';

import { root } from './lanes.ts';

/** Tells from the messages in both directions whether a thread has answered everything. */
interface Progress {
  sent(message: unknown): void;
  heard(message: unknown): void;
  isIdle(): boolean;
}

/** Each question has one answer (src/review/worker.ts). */
function reviewing(): Progress {
  let open = 0;
  return { sent: () => open++, heard: () => open--, isIdle: () => open === 0 };
}

/** A job ends with its digests, its results or its failure. An abandoned job may end at any time (src/blobs/digest-worker.ts). */
function digesting(): Progress {
  const open = new Set<number>();
  let isKnown = true;
  return {
    sent(message) {
      for (const { job, order } of message as { job: number; order: string }[]) {
        if (['follow', 'copy', 'take'].includes(order)) open.add(job);
        if (order === 'abandon') isKnown = false;
      }
    },
    heard(message) {
      const { job, report } = message as { job: number; report: string };
      if (report !== 'read') open.delete(job);
    },
    isIdle: () => isKnown && open.size === 0,
  };
}

const kinds = new Map<unknown, () => Progress>([
  [join(root, 'src/review/worker.ts'), reviewing],
  [join(root, 'src/blobs/digest-worker.ts'), digesting],
]);

/** The maximum number of idle threads of a kind. */
const maxWaiting = 4;
const waiting = new Map<string, Worker[]>();
/** The listener of each idle thread that removes it when it ends. */
const leaving = new WeakMap<Worker, () => void>();
const events = ['online', 'message', 'messageerror', 'error', 'exit'];

/** A thread while it is lent to one user. */
class LentWorker extends EventEmitter {
  readonly #kind: string;
  readonly #progress: Progress;
  #thread: Worker | undefined;
  #hasFailed = false;
  readonly #heard = new Map<string, (...told: unknown[]) => void>();

  constructor(kind: string, progress: Progress, start: () => Worker) {
    super();
    this.#kind = kind;
    this.#progress = progress;
    const idle = waiting.get(kind)?.pop();
    const thread = (this.#thread = idle ?? start());
    if (idle !== undefined) {
      for (const event of ['error', 'exit']) idle.off(event, leaving.get(idle)!);
      idle.ref();
      setImmediate(() => this.emit('online'));
    }
    for (const event of events) {
      const hear = (...args: unknown[]): void => {
        if (event === 'message') progress.heard(args[0]);
        if (event === 'error' || event === 'exit' || event === 'messageerror') this.#hasFailed = true;
        this.emit(event, ...args);
      };
      this.#heard.set(event, hear);
      thread.on(event, hear);
    }
  }

  get threadId(): number {
    return this.#thread?.threadId ?? -1;
  }

  postMessage(message: unknown): void {
    this.#progress.sent(message);
    this.#thread?.postMessage(message);
  }

  ref(): void {
    this.#thread?.ref();
  }

  unref(): void {
    this.#thread?.unref();
  }

  async terminate(): Promise<number> {
    const thread = this.#thread;
    if (thread === undefined) return 1;
    const others = waiting.get(this.#kind) ?? [];
    if (this.#hasFailed || !this.#progress.isIdle() || others.length >= maxWaiting) return thread.terminate();
    this.#thread = undefined;
    for (const [event, hear] of this.#heard) thread.off(event, hear);
    thread.unref();
    keepWaiting(this.#kind, thread);
    await new Promise(setImmediate);
    this.emit('exit', 1);
    return 1;
  }
}

/** Keeps an idle thread for the next user. If it ends, it is no longer lent. */
function keepWaiting(kind: string, thread: Worker): void {
  const others = waiting.get(kind) ?? [];
  waiting.set(kind, [...others, thread]);
  const leave = (): void => {
    waiting.set(kind, waiting.get(kind)?.filter((worker) => worker !== thread) ?? []);
  };
  leaving.set(thread, leave);
  thread.on('error', leave).on('exit', leave);
}

threads.Worker = new Proxy(threads.Worker, {
  construct(target, [file, options = {}]: [string | URL, WorkerOptions?], newTarget) {
    const start = () => Reflect.construct(target, [file, options], newTarget) as Worker;
    const progress = kinds.get(file);
    return progress === undefined ? start() : new LentWorker(JSON.stringify([file, options]), progress(), start);
  },
});
syncBuiltinESMExports();

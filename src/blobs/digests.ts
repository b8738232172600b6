// Digests computed away from the event loop, by a few worker threads that read the file themselves:
// no bytes travel between threads, only "the file has grown to so many". While a file arrives each algorithm is a job of its
// own, so that one upload can use two cores; reading the same bytes out of the page cache twice costs little beside hashing
// them. A file that lies on the disk is read once, for all its algorithms.
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { StartWorker } from '#src/embedded.ts';
import type { DigestOrder, DigestReport } from './digest-worker.ts';

/** The algorithms, and what each costs beside the others for the same bytes. */
const cost = { 'sha3-384': 9, sha256: 2, sha384: 5, sha512: 5 };

export type DigestAlgorithm = keyof typeof cost;

/** Digests in lower-case hexadecimal. */
export type Digests<A extends DigestAlgorithm = DigestAlgorithm> = { readonly [algorithm in A]: string };

/** A file whose digests are computed while it is being written. */
export interface FollowedFile<A extends DigestAlgorithm> {
  /** Says that the file has grown to `size` bytes. Await it before writing on, so that reading never falls far behind. */
  grown(size: number): Promise<void>;
  /** The digests of everything announced so far. */
  end(): Promise<Digests<A>>;
  /** Lets go of the file; nothing more is expected of it. */
  abandon(): void;
}

export interface DigestPool {
  /**
   * Follows a file that exists already, empty or not, and is written from its beginning. One that lies on the disk may be
   * read `direct`, past the page cache, where its file system can do that; it is then announced in multiples of 256 KiB.
   */
  follow<A extends DigestAlgorithm>(path: string, algorithms: readonly A[], how?: { direct: boolean }): FollowedFile<A>;
  /** The digests of a file that is there, in one pass. */
  ofFile<A extends DigestAlgorithm>(path: string, algorithms: readonly A[]): Promise<Digests<A>>;
  close(): Promise<void>;
}

/**
 * How far the writing may be ahead of the hashing. So much is still in the page cache, and keeps the threads busy while
 * the disk makes the writing wait.
 */
const lead = 128 * 1024 * 1024;
/** How much of a finished file is asked for at a time, so that several files share a thread fairly. */
const stride = 4 * 1024 * 1024;

interface Job {
  cost: number;
  announced: number;
  read: number;
  waiting: PromiseWithResolvers<void> | undefined;
  result: PromiseWithResolvers<string[]>;
  error: Error | undefined;
}

interface Thread {
  worker: Worker;
  jobs: Map<number, Job>;
}

/** Threads are started when first needed, at most `size` of them, and never keep the process alive while idle. */
export function digestPool(startWorker: StartWorker, size: number = availableParallelism()): DigestPool {
  const threads = new Set<Thread>();
  let lastJob = 0;
  let closed = false;

  function start(): Thread {
    const worker = startWorker({ name: 'digests', execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 32 } });
    const thread: Thread = { worker, jobs: new Map() };
    threads.add(thread);
    worker.unref();
    worker.on('message', (report: DigestReport) => hear(thread, report));
    worker.on('error', (cause) => lose(thread, cause));
    worker.on('exit', (code) => lose(thread, new Error(`the thread ended with code ${code}`)));
    return thread;
  }

  function leastBusy(): Thread {
    const [least] = [...threads].sort((one, other) => load(one) - load(other));
    return least === undefined || (least.jobs.size > 0 && threads.size < size) ? start() : least;
  }

  function hear(thread: Thread, report: DigestReport): void {
    const job = thread.jobs.get(report.job);
    if (job === undefined) return;
    if (report.report === 'read') {
      job.read = report.size;
      if (job.announced - job.read <= lead) job.waiting?.resolve();
    } else if (report.report === 'digests') {
      forget(thread, report.job);
      job.result.resolve(report.digests);
    } else {
      forget(thread, report.job);
      fail(job, Object.assign(new Error(report.message), { code: report.code }));
    }
  }

  /** A thread that died takes the jobs it had with it; the next job starts another. */
  function lose(thread: Thread, cause: unknown): void {
    threads.delete(thread);
    for (const job of thread.jobs.values()) fail(job, cause);
    thread.jobs.clear();
  }

  function forget(thread: Thread, id: number): void {
    thread.jobs.delete(id);
    // A thread that is being ended is waited for: otherwise the process would be over before whatever comes after that.
    if (thread.jobs.size === 0 && !closed) thread.worker.unref();
  }

  /** One pass over one file. */
  function begin<A extends DigestAlgorithm>(path: string, algorithms: readonly A[], direct = false): FollowedFile<A> {
    if (closed) throw new Error('cannot compute digests any more: the threads are closed');
    const thread = leastBusy();
    const id = ++lastJob;
    const result = Promise.withResolvers<string[]>();
    // Whoever awaits the result hears of a failure; before that it must not count as unhandled.
    result.promise.catch(() => undefined);
    const effort = algorithms.reduce((sum, algorithm) => sum + cost[algorithm], 0);
    const job: Job = { cost: effort, announced: 0, read: 0, waiting: undefined, result, error: undefined };
    thread.jobs.set(id, job);
    thread.worker.ref();
    const say = (order: DigestOrder): void => thread.worker.postMessage(order);
    say({ job: id, order: 'follow', path, algorithms, direct });

    return {
      async grown(size) {
        if (job.error !== undefined) throw job.error;
        job.announced = size;
        say({ job: id, order: 'grown', size });
        if (job.announced - job.read <= lead) return;
        job.waiting = Promise.withResolvers();
        await job.waiting.promise;
      },
      async end() {
        if (job.error === undefined) say({ job: id, order: 'end' });
        const digests = await result.promise;
        return Object.fromEntries(algorithms.map((algorithm, nth) => [algorithm, digests[nth]])) as Digests<A>;
      },
      abandon() {
        if (!thread.jobs.has(id)) return;
        say({ job: id, order: 'abandon' });
        forget(thread, id);
        fail(job, new Error('it was let go of'));
      },
    };
  }

  function follow<A extends DigestAlgorithm>(
    path: string,
    algorithms: readonly A[],
    { direct } = { direct: false },
  ): FollowedFile<A> {
    const jobs: FollowedFile<A>[] = [];
    const abandon = (): void => jobs.forEach((job) => job.abandon());
    try {
      for (const algorithm of algorithms) jobs.push(begin(path, [algorithm], direct));
    } catch (error) {
      abandon();
      throw error;
    }
    return {
      abandon,
      async grown(size) {
        await Promise.all(jobs.map((job) => job.grown(size)));
      },
      async end() {
        return Object.assign({}, ...(await Promise.all(jobs.map((job) => job.end())))) as Digests<A>;
      },
    };
  }

  return {
    follow,

    async ofFile(path, algorithms) {
      const { size } = await stat(path);
      const file = begin(path, algorithms);
      try {
        for (let end = 0; end < size;) {
          end = Math.min(size, end + stride);
          await file.grown(end);
        }
        return await file.end();
      } finally {
        file.abandon();
      }
    },

    async close() {
      closed = true;
      await Promise.all([...threads].map((thread) => thread.worker.terminate()));
    },
  };
}

function load(thread: Thread): number {
  let sum = 0;
  for (const job of thread.jobs.values()) sum += job.cost;
  return sum;
}

function fail(job: Job, cause: unknown): void {
  job.error = new Error('cannot compute the digests of a file', { cause });
  job.waiting?.reject(job.error);
  job.result.reject(job.error);
}

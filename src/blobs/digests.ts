// Computes digests in a few worker threads, away from the event loop. The threads read the file themselves; only its
// size is sent to them. While a file is being received, each algorithm is a separate job, so that one upload can use
// two cores; reading the same bytes twice from the page cache is cheap compared to hashing. A file that is complete is
// read once, for all algorithms.
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { StartWorker } from '#platform/embedded.ts';
import type { DigestOrder, DigestReport } from './digest-worker.ts';
import type { GroupedContent, GroupedResult, GroupReceiveOptions } from './receive-group.ts';

/** The algorithms, with their relative cost for the same bytes. */
const cost = { 'sha3-384': 9, sha256: 2, sha384: 5, sha512: 5 };

export type DigestAlgorithm = keyof typeof cost;

/** Digests in lower-case hexadecimal. */
export type DigestsByAlgorithm<A extends DigestAlgorithm = DigestAlgorithm> = { readonly [algorithm in A]: string };

/** A file that is hashed while an upload writes it. */
export interface FollowedFile<A extends DigestAlgorithm> {
  /**
   * Announces that the file has grown to `size` bytes. Await it before the next write, so that hashing never falls far
   * behind.
   */
  grown(size: number): Promise<void>;
  /** The digests of all bytes announced so far. */
  end(): Promise<DigestsByAlgorithm<A>>;
  /** Abandons the file; its digests are no longer needed. */
  abandon(): void;
}

/** A file that is copied from other files and digested on the way. The descriptors belong to the caller. */
export interface CopiedFile<A extends DigestAlgorithm> {
  /** The number of bytes copied. */
  readonly size: number;
  /** Sets the file and the offset of the next bytes to copy. */
  from(descriptor: number, offset: number): void;
  /** Resolves when the copy has `size` bytes, or when the source has ended. */
  grown(size: number): Promise<void>;
  /** Like `grown`; returns the digests of the whole copy and sets its modification time, if `time` is given. */
  end(size: number, time?: Date): Promise<DigestsByAlgorithm<A>>;
  /** Abandons the copy. The descriptors are in use until the last awaited call has ended. */
  abandon(): void;
}

export interface FollowOptions {
  /** Whether to read a complete file past the page cache, if its file system supports that. */
  direct?: boolean;
  /** Whether messages to several threads cost more than computing all digests in one pass. */
  small?: boolean;
}

export interface DigestPool {
  /**
   * Follows an existing file, empty or not, that is written from its beginning. If its size is announced in multiples
   * of 256 KiB it may be read `direct`; the digests of a `small` one are computed in one pass.
   */
  follow<A extends DigestAlgorithm>(path: string, algorithms: readonly A[], how?: FollowOptions): FollowedFile<A>;
  /** Fills an empty file by its descriptor; set `direct` if it was opened for direct I/O. */
  copy<A extends DigestAlgorithm>(to: number, algorithms: readonly A[], how?: { direct: boolean }): CopiedFile<A>;
  /** Receives small contents as a group, each at its final path. Returns the results in the same order. */
  take(contents: readonly GroupedContent[], how: GroupReceiveOptions): Promise<GroupedResult[]>;
  /** Computes the digests of a complete file in one pass. */
  ofFile<A extends DigestAlgorithm>(path: string, algorithms: readonly A[]): Promise<DigestsByAlgorithm<A>>;
  close(): Promise<void>;
}

/**
 * How many bytes writing may be ahead of hashing. This much is still in the page cache, and it keeps the threads busy
 * while writing waits for the disk.
 */
const lead = 128 * 1024 * 1024;
/** How many bytes of a file are requested at a time: few messages, and several files still share a thread fairly. */
const stride = 4 * 1024 * 1024;

interface DigestJob {
  cost: number;
  announced: number;
  /** The size that the thread was told. */
  sentSize: number;
  read: number;
  /** How far the thread may be behind the announced size before `grown` waits. */
  lead: number;
  waiting: PromiseWithResolvers<void> | undefined;
  /** Digests, or the result of each content of a group. */
  result: PromiseWithResolvers<readonly unknown[]>;
  error: Error | undefined;
}

/** The first message about a job, without its number. */
type FirstDigestOrder<A extends DigestAlgorithm> = { algorithms: readonly A[] } & (
  { order: 'follow'; path: string; direct: boolean } | { order: 'copy'; to: number; direct: boolean }
);

interface Thread {
  worker: Worker;
  jobs: Map<number, DigestJob>;
}

/**
 * The threads of a process that does nothing else: one more than processors. A thread that receives small contents waits for the disk for a
 * third of its time, and the others then use the processor (`npm run bench -- transfers`).
 */
export const maxThreadCount = availableParallelism() + 1;

/** Starts threads when they are first needed, at most `size` of them. Idle threads do not keep the process alive. */
export const createDigestPool = (startWorker: StartWorker, size: number = maxThreadCount): DigestPool =>
  new Pool(startWorker, size);

class Pool implements DigestPool {
  readonly #startWorker: StartWorker;
  readonly #size: number;
  readonly #threads = new Set<Thread>();
  #lastJob = 0;
  #closed = false;

  constructor(startWorker: StartWorker, size: number) {
    this.#startWorker = startWorker;
    this.#size = size;
  }

  follow<A extends DigestAlgorithm>(
    path: string,
    algorithms: readonly A[],
    { direct = false, small = false }: FollowOptions = {},
  ): FollowedFile<A> {
    if (small) return this.#begin({ order: 'follow', path, algorithms, direct }, lead);
    const jobs: FollowedFile<A>[] = [];
    const abandon = (): void => jobs.forEach((job) => job.abandon());
    try {
      for (const algorithm of algorithms)
        jobs.push(this.#begin({ order: 'follow', path, algorithms: [algorithm], direct }, lead));
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
        return Object.assign({}, ...(await Promise.all(jobs.map((job) => job.end())))) as DigestsByAlgorithm<A>;
      },
    };
  }

  copy<A extends DigestAlgorithm>(to: number, algorithms: readonly A[], { direct } = { direct: false }): CopiedFile<A> {
    return this.#begin({ order: 'copy', to, algorithms, direct }, 0);
  }

  async take(contents: readonly GroupedContent[], how: GroupReceiveOptions): Promise<GroupedResult[]> {
    const { thread, id, job } = this.#newJob(['sha3-384', 'sha256'], 0);
    thread.worker.postMessage([{ job: id, order: 'take', contents, ...how }] satisfies DigestOrder[]);
    return (await job.result.promise) as GroupedResult[];
  }

  async ofFile<A extends DigestAlgorithm>(path: string, algorithms: readonly A[]): Promise<DigestsByAlgorithm<A>> {
    const { size } = await stat(path);
    const file = this.#begin<A>({ order: 'follow', path, algorithms, direct: false }, lead);
    try {
      for (let end = 0; end < size;) {
        end = Math.min(size, end + stride);
        await file.grown(end);
      }
      return await file.end();
    } finally {
      file.abandon();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#threads].map((thread) => thread.worker.terminate()));
  }

  /** One pass over one file. */
  #begin<A extends DigestAlgorithm>(first: FirstDigestOrder<A>, lead: number): FollowedFile<A> & CopiedFile<A> {
    const { algorithms } = first;
    const { thread, id, job } = this.#newJob(algorithms, lead);
    const { result } = job;
    // The first message is sent together with the next one: a small file takes one message and one reply.
    const unsentOrders: DigestOrder[] = [{ job: id, ...first }];
    const say = (...orders: DigestOrder[]): void => {
      thread.worker.postMessage(unsentOrders.splice(0).concat(orders));
    };
    const tell = (): void => {
      job.sentSize = job.announced;
      say({ job: id, order: 'grown', size: job.sentSize });
    };

    return {
      get size() {
        return job.read;
      },
      from(descriptor, offset) {
        unsentOrders.push({ job: id, order: 'from', descriptor, offset });
      },
      async grown(size) {
        if (job.error !== undefined) throw job.error;
        job.announced = size;
        if (size - job.sentSize >= Math.min(stride, lead)) tell();
        if (job.announced - job.read <= lead) return;
        job.waiting = Promise.withResolvers();
        await job.waiting.promise;
      },
      async end(size: number = job.announced, time?: Date) {
        if (job.error === undefined) {
          job.sentSize = job.announced = size;
          say({ job: id, order: 'grown', size: job.sentSize }, { job: id, order: 'end', time });
        }
        const digests = (await result.promise) as string[];
        return Object.fromEntries(
          algorithms.map((algorithm, nth) => [algorithm, digests[nth]]),
        ) as DigestsByAlgorithm<A>;
      },
      abandon: () => {
        if (!thread.jobs.has(id)) return;
        // If no thread knows the file, there is no job to abandon.
        if (unsentOrders[0]?.order !== first.order) say({ job: id, order: 'abandon' });
        this.#forget(thread, id);
        fail(job, new Error('it was released'));
      },
    };
  }

  /** Creates a job on the thread with the least work. */
  #newJob(algorithms: readonly DigestAlgorithm[], lead: number): { thread: Thread; id: number; job: DigestJob } {
    if (this.#closed) throw new Error('cannot compute digests any more: the threads are closed');
    const thread = this.#leastBusy();
    const id = ++this.#lastJob;
    const result = Promise.withResolvers<readonly unknown[]>();
    // The caller that awaits the result gets the failure; until then it must not count as an unhandled rejection.
    result.promise.catch(() => undefined);
    const effort = algorithms.reduce((sum, algorithm) => sum + cost[algorithm], 0);
    const job: DigestJob = {
      cost: effort,
      announced: 0,
      sentSize: 0,
      read: 0,
      lead,
      result,
      waiting: undefined,
      error: undefined,
    };
    thread.jobs.set(id, job);
    thread.worker.ref();
    return { thread, id, job };
  }

  #start(): Thread {
    const worker = this.#startWorker({ name: 'digests', execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 32 } });
    const thread: Thread = { worker, jobs: new Map() };
    this.#threads.add(thread);
    worker.unref();
    worker.on('message', (report: DigestReport) => this.#hear(thread, report));
    worker.on('error', (cause) => this.#lose(thread, cause));
    worker.on('exit', (code) => this.#lose(thread, new Error(`the thread ended with code ${code}`)));
    return thread;
  }

  #leastBusy(): Thread {
    const [least] = [...this.#threads].sort((thread, other) => load(thread) - load(other));
    return least === undefined || (least.jobs.size > 0 && this.#threads.size < this.#size) ? this.#start() : least;
  }

  #hear(thread: Thread, report: DigestReport): void {
    const job = thread.jobs.get(report.job);
    if (job === undefined) return;
    if (report.report === 'read') {
      job.read = report.size;
      // For a copy, everything requested is done, even if the source ended early.
      if (job.lead === 0 || job.announced - job.read <= job.lead) job.waiting?.resolve();
    } else if (report.report === 'taken') {
      this.#forget(thread, report.job);
      job.result.resolve(report.results);
    } else if (report.report === 'digests') {
      job.read = report.size;
      this.#forget(thread, report.job);
      job.result.resolve(report.digests);
    } else {
      this.#forget(thread, report.job);
      fail(job, Object.assign(new Error(report.message), { code: report.code, syscall: report.syscall }));
    }
  }

  /** A thread that died fails its jobs; the next job starts another thread. */
  #lose(thread: Thread, cause: unknown): void {
    this.#threads.delete(thread);
    for (const job of thread.jobs.values()) fail(job, cause);
    thread.jobs.clear();
  }

  #forget(thread: Thread, id: number): void {
    thread.jobs.delete(id);
    // Wait for a thread that is being terminated: without that the process could exit before the code that follows.
    if (thread.jobs.size === 0 && !this.#closed) thread.worker.unref();
  }
}

function load(thread: Thread): number {
  let sum = 0;
  for (const job of thread.jobs.values()) sum += job.cost;
  return sum;
}

function fail(job: DigestJob, cause: unknown): void {
  job.error = new Error('cannot compute the digests of a file', { cause });
  job.waiting?.reject(job.error);
  job.result.reject(job.error);
}

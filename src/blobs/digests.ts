// Digests computed away from the event loop, by a few worker threads that read the file themselves:
// no bytes travel between threads, only "the file has grown to so many". While a file arrives each algorithm is a job of its
// own, so that one upload can use two cores; reading the same bytes out of the page cache twice costs little beside hashing
// them. A file that lies on the disk is read once, for all its algorithms.
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { StartWorker } from '#src/embedded.ts';
import type { DigestOrder, DigestReport } from './digest-worker.ts';
import type { GroupedContent, GroupedResult, GroupHow } from './group.ts';

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

/** A file that is made of others, whose descriptors stay those of whoever has them; digested on the way. */
export interface CopiedFile<A extends DigestAlgorithm> {
  /** How many bytes the copy has. */
  readonly size: number;
  /** From where in a file the bytes come that are copied next. */
  from(descriptor: number, offset: number): void;
  /** Resolves when the copy has so many bytes, or what it is made of has ended. */
  grown(size: number): Promise<void>;
  /** The same, and the digests of all of it; from then on it bears the time, where one is given. */
  end(size: number, time?: Date): Promise<Digests<A>>;
  /** Lets go of it; the descriptors are used no more when that which was awaited last has ended. */
  abandon(): void;
}

export interface Following {
  /** Whether a file that lies on the disk is read past the page cache, where its file system can do that. */
  direct?: boolean;
  /** Whether what is said of it to a thread costs more than to read it once for each algorithm. */
  small?: boolean;
}

export interface DigestPool {
  /**
   * Follows a file that exists already, empty or not, and is written from its beginning. One that is announced in multiples of
   * 256 KiB may be read `direct`; of one that is `small` all digests are made in one pass.
   */
  follow<A extends DigestAlgorithm>(path: string, algorithms: readonly A[], how?: Following): FollowedFile<A>;
  /** Writes an empty file, by its descriptor, as a copy; `direct` where that was opened to be written past the page cache. */
  copy<A extends DigestAlgorithm>(to: number, algorithms: readonly A[], how?: { direct: boolean }): CopiedFile<A>;
  /** Takes in small contents together, each into its place; says of each what became of it, in their order. */
  take(contents: readonly GroupedContent[], how: GroupHow): Promise<GroupedResult[]>;
  /** The digests of a file that is there, in one pass. */
  ofFile<A extends DigestAlgorithm>(path: string, algorithms: readonly A[]): Promise<Digests<A>>;
  close(): Promise<void>;
}

/**
 * How far the writing may be ahead of the hashing. So much is still in the page cache, and keeps the threads busy while
 * the disk makes the writing wait.
 */
const lead = 128 * 1024 * 1024;
/** How much of a file is asked for at a time: few messages are sent for it, and several files share a thread fairly. */
const stride = 4 * 1024 * 1024;

interface Job {
  cost: number;
  announced: number;
  /** What of that the thread was told. */
  told: number;
  read: number;
  /** How far it may be behind of what was announced before who announces more has to wait. */
  lead: number;
  waiting: PromiseWithResolvers<void> | undefined;
  /** Digests, or what became of each content of a group. */
  result: PromiseWithResolvers<readonly unknown[]>;
  error: Error | undefined;
}

/** What a thread is told first of a job, but for its number. */
type Beginning<A extends DigestAlgorithm> = { algorithms: readonly A[] } & (
  { order: 'follow'; path: string; direct: boolean } | { order: 'copy'; to: number; direct: boolean }
);

interface Thread {
  worker: Worker;
  jobs: Map<number, Job>;
}

/** Threads are started when first needed, at most `size` of them, and never keep the process alive while idle. */
export const digestPool = (startWorker: StartWorker, size: number = availableParallelism()): DigestPool =>
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
    { direct = false, small = false }: Following = {},
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
        return Object.assign({}, ...(await Promise.all(jobs.map((job) => job.end())))) as Digests<A>;
      },
    };
  }

  copy<A extends DigestAlgorithm>(to: number, algorithms: readonly A[], { direct } = { direct: false }): CopiedFile<A> {
    return this.#begin({ order: 'copy', to, algorithms, direct }, 0);
  }

  async take(contents: readonly GroupedContent[], how: GroupHow): Promise<GroupedResult[]> {
    const { thread, id, job } = this.#newJob(['sha3-384', 'sha256'], 0);
    thread.worker.postMessage([{ job: id, order: 'take', contents, ...how }] satisfies DigestOrder[]);
    return (await job.result.promise) as GroupedResult[];
  }

  async ofFile<A extends DigestAlgorithm>(path: string, algorithms: readonly A[]): Promise<Digests<A>> {
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
  #begin<A extends DigestAlgorithm>(first: Beginning<A>, lead: number): FollowedFile<A> & CopiedFile<A> {
    const { algorithms } = first;
    const { thread, id, job } = this.#newJob(algorithms, lead);
    const { result } = job;
    // What it begins with is said with what comes next: of a small file there is one message, and one answer.
    const unsaid: DigestOrder[] = [{ job: id, ...first }];
    const say = (...orders: DigestOrder[]): void => {
      thread.worker.postMessage(unsaid.splice(0).concat(orders));
    };
    const tell = (): void => {
      job.told = job.announced;
      say({ job: id, order: 'grown', size: job.told });
    };

    return {
      get size() {
        return job.read;
      },
      from(descriptor, offset) {
        unsaid.push({ job: id, order: 'from', descriptor, offset });
      },
      async grown(size) {
        if (job.error !== undefined) throw job.error;
        job.announced = size;
        if (size - job.told >= Math.min(stride, lead)) tell();
        if (job.announced - job.read <= lead) return;
        job.waiting = Promise.withResolvers();
        await job.waiting.promise;
      },
      async end(size: number = job.announced, time?: Date) {
        if (job.error === undefined) {
          job.told = job.announced = size;
          say({ job: id, order: 'grown', size: job.told }, { job: id, order: 'end', time });
        }
        const digests = (await result.promise) as string[];
        return Object.fromEntries(algorithms.map((algorithm, nth) => [algorithm, digests[nth]])) as Digests<A>;
      },
      abandon: () => {
        if (!thread.jobs.has(id)) return;
        // Of a file that no thread has heard of there is nothing to let go of.
        if (unsaid[0]?.order !== first.order) say({ job: id, order: 'abandon' });
        this.#forget(thread, id);
        fail(job, new Error('it was let go of'));
      },
    };
  }

  /** Something to do for the thread that has the least of it. */
  #newJob(algorithms: readonly DigestAlgorithm[], lead: number): { thread: Thread; id: number; job: Job } {
    if (this.#closed) throw new Error('cannot compute digests any more: the threads are closed');
    const thread = this.#leastBusy();
    const id = ++this.#lastJob;
    const result = Promise.withResolvers<readonly unknown[]>();
    // Whoever awaits the result hears of a failure; before that it must not count as unhandled.
    result.promise.catch(() => undefined);
    const effort = algorithms.reduce((sum, algorithm) => sum + cost[algorithm], 0);
    const job: Job = {
      ...{ cost: effort, announced: 0, told: 0, read: 0, lead, result },
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
    const [least] = [...this.#threads].sort((one, other) => load(one) - load(other));
    return least === undefined || (least.jobs.size > 0 && this.#threads.size < this.#size) ? this.#start() : least;
  }

  #hear(thread: Thread, report: DigestReport): void {
    const job = thread.jobs.get(report.job);
    if (job === undefined) return;
    if (report.report === 'read') {
      job.read = report.size;
      // Of what is copied all was done that was asked for, also where it ended before that.
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

  /** A thread that died takes the jobs it had with it; the next job starts another. */
  #lose(thread: Thread, cause: unknown): void {
    this.#threads.delete(thread);
    for (const job of thread.jobs.values()) fail(job, cause);
    thread.jobs.clear();
  }

  #forget(thread: Thread, id: number): void {
    thread.jobs.delete(id);
    // A thread that is being ended is waited for: otherwise the process would be over before whatever comes after that.
    if (thread.jobs.size === 0 && !this.#closed) thread.worker.unref();
  }
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

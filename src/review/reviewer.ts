// Reviews uploads, one after the other, in a worker thread with limits on time and memory. An upload that exceeds them
// is rejected; an internal fault is thrown, so that the caller can retry.
import type { Worker } from 'node:worker_threads';
import { minutes, seconds } from '#domain/clock.ts';
import type { StartWorker } from '#platform/embedded.ts';
import { unknownBill, type BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import type { StoredImage } from './images/stored-image.ts';
import {
  rejection,
  type OpenUpload,
  type OwnName,
  type Rejection,
  type SnapFacts,
  type ReviewUpload,
  type ReviewVerdict,
} from './verdict.ts';
import type { ReviewReply, ReviewResult, ReviewRequest } from './worker.ts';

export interface Reviewer {
  /** Returns the verdict on an upload; rejects with an error that says "cannot review …" after an internal fault. */
  review(upload: ReviewUpload): Promise<ReviewVerdict>;
  /** Like `review`, for an open file. */
  reviewOpen(upload: OpenUpload): Promise<ReviewVerdict>;
  /** The package that an open file, given by its descriptor, says it belongs to, if any; rejects as `review` does. */
  ownName(file: number): Promise<{ ownName: OwnName | undefined } | Rejection>;
  /** Returns the bill of materials of an image in a repository; rejects as `review` does. */
  imageBill(image: StoredImage): Promise<BillOfMaterials>;
  /** Ends the worker; running and waiting reviews are rejected. */
  close(): Promise<void>;
}

export interface ReviewerOptions {
  startWorker: StartWorker;
  /** The time limit of one upload. Some publishers' clients time out after a minute, including the wait. */
  timeLimitMs?: number;
  /** The time limit of one bill of materials that no publisher waits for: of an image, or with `billBytes`. */
  billTimeLimitMs?: number;
  /** The heap size of the worker in MB. */
  heapMb?: number;
  /** How long an idle worker is kept. */
  idleMs?: number;
}

/** The facts of a signed snap, given by its descriptor; a sentence if it cannot be read. */
export async function snapFactsOf(
  file: number,
  reviewer: Pick<Reviewer, 'ownName' | 'reviewOpen'>,
): Promise<SnapFacts | string> {
  const reply = await reviewer.ownName(file);
  const name = 'ownName' in reply ? reply.ownName?.name : undefined;
  const verdict =
    'errors' in reply ? reply : await reviewer.reviewOpen({ kind: 'snap', file, name: name ?? '', signed: true });
  if (!verdict.approved) return verdict.errors.map(({ message }) => message).join(' ');
  if (verdict.kind !== 'snap') throw new Error('cannot review a snap: it was read as something else');
  return verdict.facts;
}

/** The part of the heap for new objects. */
const youngMb = 8;
const advice = 'Check its content, pack it again, and push the new file.';

export function createReviewer(options: ReviewerOptions): Reviewer {
  const worker = new ReviewWorker(options);
  let closed = false;
  /** Settles when all earlier requests are answered. */
  let turn: Promise<unknown> = Promise.resolve();

  /** Runs a request when all earlier ones are answered. */
  function inTurn<Result>(subject: string, work: () => Promise<Result>): Promise<Result> {
    const answered = turn.then(() =>
      work().catch((cause: unknown) => {
        throw new Error(`cannot review ${subject}`, { cause });
      }),
    );
    turn = answered.catch(() => undefined);
    return answered;
  }

  // The worker answers requests for a verdict on an upload, for the name in a file, and for the bill of an image.
  async function judge(upload: ReviewUpload | OpenUpload): Promise<ReviewVerdict> {
    if (closed) throw new Error('the reviewer is closed');
    return upload.kind === 'plain' ? { approved: true, kind: 'plain' } : ((await worker.ask(upload)) as ReviewVerdict);
  }

  async function nameOf(file: number): Promise<{ ownName: OwnName | undefined } | Rejection> {
    if (closed) throw new Error('the reviewer is closed');
    return (await worker.ask({ kind: 'own-name', file })) as { ownName: OwnName | undefined } | Rejection;
  }

  async function billOf(image: StoredImage): Promise<BillOfMaterials> {
    if (closed) throw new Error('the reviewer is closed');
    const result = (await worker.ask({ kind: 'image-bill', ...image })) as { bill: BillOfMaterials } | Rejection;
    return 'bill' in result ? result.bill : unknownBill(result.errors[0]?.message ?? 'It cannot be read.');
  }

  const review = (upload: ReviewUpload | OpenUpload): Promise<ReviewVerdict> =>
    inTurn(`the ${upload.kind} '${upload.name}'`, () => judge(upload));

  return {
    review,
    reviewOpen: review,
    ownName: (file) => inTurn('a file', () => nameOf(file)),
    imageBill: (image) => inTurn('an image', () => billOf(image)),
    async close() {
      closed = true;
      await worker.close();
      await turn;
    },
  };
}

/** The worker, started when it is needed; it reads one upload at a time. */
class ReviewWorker {
  readonly #options: Required<ReviewerOptions>;
  #worker: Worker | undefined;
  #online = false;
  #idle: NodeJS.Timeout | undefined;
  /** Rejects the running review when its worker has ended. */
  #interrupt: ((error: Error) => void) | undefined;

  constructor(options: ReviewerOptions) {
    const { timeLimitMs = seconds(20), billTimeLimitMs = minutes(10), heapMb = 64, idleMs = minutes(1) } = options;
    this.#options = { ...options, timeLimitMs, billTimeLimitMs, heapMb, idleMs };
  }

  async ask(question: ReviewRequest): Promise<ReviewResult> {
    const kind = question.kind === 'own-name' ? 'file' : question.kind === 'image-bill' ? 'image' : question.kind;
    clearTimeout(this.#idle);
    const thread = (this.#worker ??= this.#start());
    const pending = Promise.withResolvers<ReviewResult>();
    const { resolve, reject } = pending;
    const { heapMb, idleMs, ...limits } = this.#options;
    const isBill = question.kind === 'image-bill' || 'billBytes' in question;
    const timeLimitMs = isBill ? limits.billTimeLimitMs : limits.timeLimitMs;
    const beyond = (limit: string): void => {
      resolve(rejection(`The ${kind} could not be read within ${limit}. ${advice}`));
    };
    this.#interrupt = (error) => {
      if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') beyond(`${String(heapMb)} MB of memory`);
      else reject(error);
    };
    const timer = setTimeout(() => {
      if (this.#online) beyond(`${String(timeLimitMs / 1000)} seconds`);
      else reject(new Error('the worker did not start in time'));
      // Do not wait for its end: it may hang in a read from a failing disk.
      void this.#dismiss();
    }, timeLimitMs);
    thread.once('message', (answer: ReviewReply) => {
      settle(pending, answer);
    });
    thread.ref();
    thread.postMessage(question);
    try {
      return await pending.promise;
    } finally {
      clearTimeout(timer);
      this.#interrupt = undefined;
      if (this.#worker === thread) {
        thread.unref();
        this.#idle = setTimeout(() => void this.#dismiss(), idleMs).unref();
      }
    }
  }

  async close(): Promise<void> {
    this.#interrupt?.(new Error('the reviewer was closed'));
    this.#worker?.ref(); // keeps the process alive until the thread has ended
    await this.#dismiss();
  }

  #start(): Worker {
    const { startWorker, heapMb } = this.#options;
    const thread = startWorker({
      // The worker receives a path and a name; it does not need the environment or the arguments of the appliance.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb - youngMb, maxYoungGenerationSizeMb: youngMb },
    });
    this.#online = false;
    thread.once('online', () => {
      if (this.#worker === thread) this.#online = true;
    });
    const ended = (error: Error) => {
      if (this.#worker !== thread) return;
      this.#worker = undefined;
      this.#interrupt?.(error);
    };
    thread.on('error', (error) => {
      ended(error instanceof Error ? error : new Error(String(error)));
    });
    thread.on('exit', (code) => {
      ended(new Error(`the worker ended with ${String(code)}`));
    });
    return thread;
  }

  async #dismiss(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#worker;
    this.#worker = undefined;
    await thread?.terminate();
  }
}

function settle({ resolve, reject }: PromiseWithResolvers<ReviewResult>, answer: ReviewReply): void {
  if ('result' in answer) resolve(answer.result);
  else {
    const { fault: cause, code } = answer;
    reject(Object.assign(new Error('the upload could not be read', { cause }), { code }));
  }
}

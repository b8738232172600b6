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
import { ReviewRequestQueue, type ReviewAnswerer } from './review-request-queue.ts';
import type { ReviewAnswer, ReviewMessage, ReviewReply, ReviewResult, ReviewRequest } from './worker.ts';

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
  const queue = new ReviewRequestQueue(worker);

  const ask = <Result>(subject: string, request: ReviewRequest): Promise<Result> =>
    queue.ask(request).then(
      (result) => result as Result,
      (cause: unknown) => {
        throw new Error(`cannot review ${subject}`, { cause });
      },
    );

  const review = async (upload: ReviewUpload | OpenUpload): Promise<ReviewVerdict> =>
    upload.kind === 'plain'
      ? { approved: true, kind: 'plain' }
      : ask<ReviewVerdict>(`the ${upload.kind} '${upload.name}'`, upload);

  return {
    review,
    reviewOpen: review,
    ownName: (file) => ask('a file', { kind: 'own-name', file }),
    async imageBill(image) {
      const result = await ask<{ bill: BillOfMaterials } | Rejection>('an image', { kind: 'image-bill', ...image });
      return 'bill' in result ? result.bill : unknownBill(result.errors[0]?.message ?? 'It cannot be read.');
    },
    async close() {
      const closed = queue.close();
      await worker.close();
      await closed;
    },
  };
}

/** The worker, started when it is needed; it gets one message at a time. */
class ReviewWorker implements ReviewAnswerer {
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
    const isBill = question.kind === 'image-bill' || 'billBytes' in question;
    const reply = await this.#send(question, {
      timeLimitMs: isBill ? this.#options.billTimeLimitMs : this.#options.timeLimitMs,
      beyond: (limit) => ({ result: rejection(`The ${kind} could not be read within ${limit}. ${advice}`) }),
    });
    return resultIn(reply as ReviewReply);
  }

  async askTogether(questions: readonly ReviewRequest[]): Promise<readonly ReviewReply[] | undefined> {
    const { timeLimitMs } = this.#options;
    const sent = this.#send({ together: questions }, { timeLimitMs, beyond: () => undefined });
    return (await sent.catch(() => undefined)) as readonly ReviewReply[] | undefined;
  }

  /** Resolves with the answer of the worker, or with the result of `beyond` if the worker exceeds a limit. */
  async #send(
    message: ReviewMessage,
    { timeLimitMs, beyond }: { timeLimitMs: number; beyond: (limit: string) => ReviewReply | undefined },
  ): Promise<ReviewAnswer | undefined> {
    clearTimeout(this.#idle);
    const thread = (this.#worker ??= this.#start());
    const { resolve, reject, promise } = Promise.withResolvers<ReviewAnswer | undefined>();
    const { heapMb, idleMs } = this.#options;
    this.#interrupt = (error) => {
      if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
        resolve(beyond(`${String(heapMb)} MB of memory`));
      else reject(error);
    };
    const timer = setTimeout(() => {
      if (this.#online) resolve(beyond(`${String(timeLimitMs / 1000)} seconds`));
      else reject(new Error('the worker did not start in time'));
      // Do not wait for its end: it may hang in a read from a failing disk.
      void this.#dismiss();
    }, timeLimitMs);
    thread.once('message', resolve);
    thread.ref();
    thread.postMessage(message);
    try {
      return await promise;
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

function resultIn(reply: ReviewReply): ReviewResult {
  if ('result' in reply) return reply.result;
  const { fault: cause, code } = reply;
  throw Object.assign(new Error('the upload could not be read', { cause }), { code });
}

// Answers requests for reviews in their order. Requests for signed snaps that wait are sent to the worker as one message, because a message
// to another thread and its reply take as long as the review of a small snap (`npm run bench -- signed-transfers`).
import type { ReviewReply, ReviewRequest, ReviewResult } from './worker.ts';

export interface ReviewAnswerer {
  /** Answers one request; rejects after an internal fault. */
  ask(request: ReviewRequest): Promise<ReviewResult>;
  /** Answers several requests within the limits of one; undefined if they exceed them or break the worker. */
  askTogether(requests: readonly ReviewRequest[]): Promise<readonly ReviewReply[] | undefined>;
}

interface WaitingReview {
  request: ReviewRequest;
  answered: PromiseWithResolvers<ReviewResult>;
}

/** The maximum number of requests in one message: most of what grouping saves, and a small loss if one of them breaks the worker. */
const maxTogether = 16;

export class ReviewRequestQueue {
  readonly #answerer: ReviewAnswerer;
  readonly #waiting: WaitingReview[] = [];
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(answerer: ReviewAnswerer) {
    this.#answerer = answerer;
  }

  /** Returns the result when all earlier requests are answered. */
  ask(request: ReviewRequest): Promise<ReviewResult> {
    const answered = Promise.withResolvers<ReviewResult>();
    this.#waiting.push({ request, answered });
    this.#running ??= this.#run();
    return answered.promise;
  }

  /** Rejects the waiting requests and all later ones. Resolves when the current request has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (;;) {
      // Requests of the same turn join.
      await Promise.resolve();
      const reviews = this.#next();
      if (reviews.length === 0) break;
      await this.#answer(reviews);
    }
    this.#running = undefined;
  }

  /** Removes the first request from the queue, with the following ones that can be answered together with it. */
  #next(): WaitingReview[] {
    const end = this.#waiting.findIndex(({ request }) => !isQuick(request));
    const count = Math.min(end === -1 ? this.#waiting.length : end, maxTogether);
    return this.#waiting.splice(0, Math.max(1, count));
  }

  async #answer(reviews: readonly WaitingReview[]): Promise<void> {
    const requests = reviews.map(({ request }) => request);
    const replies = reviews.length > 1 && !this.#isClosed ? await this.#answerer.askTogether(requests) : undefined;
    for (const [at, { request, answered }] of reviews.entries()) {
      const reply = replies?.[at];
      // A request that has failed is made again alone, so that no snap is judged by another one.
      const result = reply !== undefined && 'result' in reply ? Promise.resolve(reply.result) : this.#askAlone(request);
      await result.then(answered.resolve, answered.reject);
    }
  }

  async #askAlone(request: ReviewRequest): Promise<ReviewResult> {
    if (this.#isClosed) throw new Error('the reviewer is closed');
    return this.#answerer.ask(request);
  }
}

/** Whether a review takes less than a millisecond as a rule, and no publisher waits for it. */
const isQuick = (request: ReviewRequest): boolean =>
  request.kind === 'snap' && request.signed === true && request.billBytes === undefined;

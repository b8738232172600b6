// Reviews uploads in the order of their pushes. The records are the queue, so uploads that wait when the process stops or crashes are
// reviewed after the next start.
import type { Logger } from 'pino';

import { itself, type Act, type Acts } from '#acts/act.ts';
import { approveUpload, rejectUpload, scanUpload, type OfUpload } from '#acts/uploads/reviews.ts';
import { withFile, type Blobs } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { minutes, seconds } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import { isEngineUnavailable, Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Findings, Review, UploadReviewError } from '#records/uploads/uploads.ts';
import type { Reviewer } from '#review/reviewer.ts';
import type { ReviewApproval, Rejection } from '#review/verdict.ts';
import type { Leases } from '#shared/leases.ts';
import type { Health } from '#platform/health.ts';
import { findingsOf, keepIcon, kindOf } from './findings.ts';
import { unreadableUploads, type UnreadableUploads } from './unreadable-uploads.ts';

export interface ReviewQueue {
  /** Signals that uploads may be waiting. */
  soon(): void;
  /** Resolves when no review is running and no upload waits. */
  idle(): Promise<void>;
  /** Finishes the current review and starts no other. */
  stop(): Promise<void>;
}

export interface ReviewQueueOptions {
  records: StoreRecords;
  acts: Acts;
  blobs: Blobs;
  reviewer: Pick<Reviewer, 'review'>;
  digests: Pick<DigestPool, 'ofFile'>;
  /** Ensures that only one process of the store reviews an upload. */
  leases: Leases;
  newId: NewIds;
  /** Review only the upload with this id. Default: all waiting uploads. */
  only?: string;
  log: Logger;
  health: Pick<Health, 'watch'>;
  /** Milliseconds until a retry after an upload could not be read. */
  retry?: number;
  /** Milliseconds between checks for uploads that another process left unreviewed. */
  recheckMs?: number;
  /** Milliseconds until a retry if the database or the blob store on another machine is unavailable. */
  unavailableRetryMs?: number;
  /** Called after each review. */
  reviewed?: () => void;
}

/**
 * Internal failures with one upload after which its publisher is told to push it again. An unreadable file does not count, because it says
 * nothing about the upload, which keeps waiting.
 */
const attempts = 3;

/** Prefix of resource types that are components of snaps. */
const componentPrefix = /^component\//;

/** Refusal codes of an act if the upload no longer waits for review or was deleted with its package. */
const settled = new Set(['conflict', 'resource-not-found']);

/** Two independent queues, so that a package does not wait behind a resource of many gigabytes that takes minutes to hash. */
export function reviewQueue(options: ReviewQueueOptions): ReviewQueue {
  const lines = [new SingleReviewQueue('revisions', options), new SingleReviewQueue('resources', options)];
  return {
    soon() {
      for (const line of lines) line.soon();
    },
    async idle() {
      await Promise.all(lines.map((line) => line.idle()));
    },
    async stop() {
      await Promise.all(lines.map((line) => line.stop()));
    },
  };
}

class SingleReviewQueue implements ReviewQueue {
  readonly #of: 'revisions' | 'resources';
  readonly #options: ReviewQueueOptions;
  readonly #unreadable: UnreadableUploads;
  readonly #failures = new Map<string, number>();
  /** Ids of uploads that other processes were reviewing. They are checked again soon. */
  readonly #elsewhere = new Set<string>();
  readonly #looking: NodeJS.Timeout;
  readonly #unavailableRetryMs: number;
  readonly #stopping = Promise.withResolvers<undefined>();
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;

  constructor(of: 'revisions' | 'resources', options: ReviewQueueOptions) {
    const { health, retry = minutes(10), recheckMs = seconds(30), unavailableRetryMs = seconds(5) } = options;
    this.#of = of;
    this.#options = options;
    this.#unavailableRetryMs = unavailableRetryMs;
    const again = (): void => {
      this.soon();
    };
    this.#unreadable = unreadableUploads(of, { health, retry, again });
    this.#looking = setInterval(() => {
      this.#elsewhere.clear();
      this.soon();
    }, recheckMs).unref();
  }

  soon(): void {
    this.#again = true;
    if (this.#running !== undefined || this.#stopped) return;
    this.#running = this.#drain()
      .catch((error: unknown) => {
        this.#options.log.error({ err: error }, 'cannot continue reviewing; the next push tries again');
        if (isEngineUnavailable(error)) setTimeout(() => this.soon(), this.#unavailableRetryMs).unref();
      })
      .finally(() => {
        this.#running = undefined;
        if (this.#again && !this.#stopped) this.soon();
      });
  }

  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopping.resolve(undefined);
    clearInterval(this.#looking);
    this.#unreadable.stop();
    await this.#running;
  }

  async #drain(): Promise<void> {
    const { leases } = this.#options;
    while (!this.#stopped) {
      this.#again = false;
      const passedOver = [...this.#unreadable.waiting(), ...this.#elsewhere];
      const upload = await this.#next(passedOver);
      if (upload === undefined) {
        // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- `soon` may have been called meanwhile
        if (this.#again) continue;
        return;
      }
      // The lease of a settled upload is kept: a process that read the upload as waiting then finds it leased or settled.
      const held = await leases.withLease(`review ${upload.id}`, () => this.#attempt(upload), isSettled);
      if (held === undefined) this.#elsewhere.add(upload.id);
    }
  }

  /** Returns the next upload to review, skipping the given ids. */
  async #next(but: string[]): Promise<Review | undefined> {
    const { records, only } = this.#options;
    if (only === undefined) return records.uploads.nextToReview(this.#of, but);
    const upload = await records.uploads.claimed(only);
    const isMine = upload?.status === 'new' && (upload.resource === null) === (this.#of === 'revisions');
    return isMine && !but.includes(only) ? upload : undefined;
  }

  /** Reviews an upload. Returns whether it is settled, by this process or another. */
  async #attempt(upload: Review): Promise<boolean> {
    if (!(await this.#stillWaits(upload))) return true;
    try {
      await this.#review(upload);
    } catch (error) {
      if (!(error instanceof ReviewSettledError)) {
        await this.#afterFailure(upload, error);
        return false;
      }
      this.#options.log.info({ err: error.cause, upload: upload.id }, 'the findings of a review are no longer needed');
      if (await this.#stillWaits(upload)) return false;
    }
    this.#failures.delete(upload.id);
    this.#unreadable.settled(upload.id);
    this.#options.reviewed?.();
    return !this.#stopped;
  }

  async #stillWaits({ id }: Review): Promise<boolean> {
    return (await this.#options.records.uploads.claimed(id))?.status === 'new';
  }

  async #review(upload: Review): Promise<void> {
    const { records, blobs, digests, reviewer } = this.#options;
    const subject = await records.packages.byId(upload.packageId);
    if (subject === undefined) return; // The package was unregistered and its uploads were deleted.
    if (!(await blobs.prove(upload.sha3_384))) throw new Error('cannot read the upload: it is corrupt or missing');
    if (upload.resource !== null) {
      const problem = await this.#componentProblem(upload, subject);
      if (this.#stopped) return;
      if (problem !== undefined) {
        await this.#reject(upload, subject, problem.errors);
        return;
      }
      // A stop does not wait until a large file is hashed. The review restarts after the next start.
      const reading = withFile(blobs, upload.sha3_384, (file) => digests.ofFile(file, ['sha384', 'sha512']));
      const computed = await Promise.race([reading, this.#stopping.promise]);
      if (computed !== undefined) await this.#settle(upload, subject, { kind: 'resource', ...computed });
      return;
    }
    const verdict = await withFile(blobs, upload.sha3_384, (path) =>
      reviewer.review({ kind: kindOf(subject), path, name: subject.name }),
    );
    if (this.#stopped) return;
    if (!verdict.approved) await this.#reject(upload, subject, verdict.errors);
    else {
      const icon = await keepIcon(verdict, this.#options);
      await this.#settle(upload, subject, findingsOf(verdict, icon, await sha384Of(verdict, upload, this.#options)));
    }
  }

  /** Returns why devices would reject a component of a snap; undefined if they would accept it, and for other resources. */
  async #componentProblem(upload: Review, { name }: PublishedPackage): Promise<Rejection | undefined> {
    const { blobs, reviewer } = this.#options;
    const type = upload.request?.type.replace(componentPrefix, '');
    if (upload.resource === null || type === undefined || type === upload.request?.type) return undefined;
    const component = { name: upload.resource, type };
    const verdict = await withFile(blobs, upload.sha3_384, (path) =>
      reviewer.review({ kind: 'component', path, name, component }),
    );
    return verdict.approved ? undefined : verdict;
  }

  /** Approves the findings, or submits them for manual review if the package requires it. */
  async #settle(upload: Review, subject: PublishedPackage, findings: Findings): Promise<void> {
    if (this.#stopped) return;
    const { records } = this.#options;
    const byHand = await records.packages.isReviewedByHand(subject.id);
    const input = { upload: upload.id, package: subject, findings };
    await (byHand ? this.#unlessSettled(scanUpload, input) : this.#unlessSettled(approveUpload, input));
  }

  #reject(upload: Review, subject: PublishedPackage, errors: UploadReviewError[]): Promise<void> {
    const input = { upload: upload.id, package: subject, waitsFor: 'review' as const, errors };
    return this.#unlessSettled(rejectUpload, input);
  }

  /** Performs an act and throws ReviewSettledError if the upload no longer waits for this review. */
  async #unlessSettled<Input extends OfUpload>(act: Act<Input, unknown>, input: Input): Promise<void> {
    try {
      await this.#options.acts.do(act, itself, input);
    } catch (error) {
      if (error instanceof Refusal && settled.has(error.code))
        throw new ReviewSettledError('it was settled', { cause: error });
      throw error;
    }
  }

  /** Waits this many milliseconds, or until stop. */
  async #sleep(milliseconds: number): Promise<void> {
    const over = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => over.resolve(undefined), milliseconds);
    await Promise.race([over.promise, this.#stopping.promise]);
    clearTimeout(timer);
  }

  async #afterFailure(upload: Review, error: unknown): Promise<void> {
    if (this.#stopped) return;
    const { records, log } = this.#options;
    if (isEngineUnavailable(error)) {
      // An unavailable service says nothing about the upload.
      log.warn({ err: error, upload: upload.id }, 'cannot review an upload now; it waits');
      await this.#sleep(this.#unavailableRetryMs);
      return;
    }
    const count = (this.#failures.get(upload.id) ?? 0) + 1;
    log.error({ err: error, upload: upload.id, attempt: count }, 'cannot review an upload');
    this.#failures.set(upload.id, count);
    if (count < attempts) {
      await this.#sleep(seconds(count));
      return;
    }
    this.#failures.delete(upload.id);
    if (this.#unreadable.is(error)) {
      this.#unreadable.setAside(upload.id);
      return;
    }
    this.#unreadable.settled(upload.id);
    const subject = await records.packages.byId(upload.packageId);
    if (subject === undefined) return;
    const message = 'The store could not review this upload. Its log has the reason. Push the file again.';
    await this.#reject(upload, subject, [{ code: 'review-error', message }]).catch((refused: unknown) => {
      if (!(refused instanceof ReviewSettledError)) throw refused;
    });
  }
}

/** Returns the SHA-384 digest of a charm. Only juju needs it, so other content is not hashed. */
async function sha384Of(
  { kind }: ReviewApproval,
  { sha3_384 }: Review,
  { blobs, digests }: ReviewQueueOptions,
): Promise<string | undefined> {
  if (kind !== 'charm' && kind !== 'bundle') return undefined;
  return (await withFile(blobs, sha3_384, (file) => digests.ofFile(file, ['sha384']))).sha384;
}

/** Thrown if the upload was settled elsewhere. */
class ReviewSettledError extends Error {}

const isSettled = (settled: boolean): boolean => settled;

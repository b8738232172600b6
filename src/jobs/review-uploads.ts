// Reviews uploads in the order in which they were pushed. The records are the queue: what was left waiting
// by a stop, however sudden, is reviewed after the next start.
import type { Logger } from 'pino';

import type { Blobs } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { minutes, seconds, timestamp, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Findings, Review, ReviewError } from '#records/uploads.ts';
import type { Reviewer } from '#review/reviewer.ts';
import type { Approval } from '#review/verdict.ts';
import type { Leases } from '#shared/leases.ts';
import type { Health } from '#src/health.ts';
import { approveUpload } from './approve-upload.ts';
import { findingsOf, kindOf } from './findings.ts';
import { unreadableUploads } from './unreadable-uploads.ts';

export interface ReviewQueue {
  /** Says that something may be waiting. */
  soon(): void;
  /** Resolves when nothing is being reviewed and nothing waits. */
  idle(): Promise<void>;
  /** Finishes the review under way and starts no other. */
  stop(): Promise<void>;
}

export interface ReviewQueueOptions {
  records: Records;
  blobs: Blobs;
  reviewer: Reviewer;
  digests: Pick<DigestPool, 'ofFile'>;
  /** By which one process of the store at a time reviews an upload. */
  leases: Leases;
  now: Now;
  newId: NewIds;
  log: Logger;
  health: Pick<Health, 'watch'>;
  /** Milliseconds after which an upload that could not be read is tried again. */
  retry?: number;
  /** Milliseconds after which it is looked whether another process has left an upload behind. */
  lookAgain?: number;
  /** Told after each approval. */
  approved?: () => void;
}

/**
 * After so many failures of our own with one upload, its publisher is told to push it again; not where its file could not
 * be read: that says nothing of the file, and so it goes on waiting.
 */
const attempts = 3;

/**
 * Two lines, each in its order: a resource of many gigabytes takes minutes to be hashed, and nobody who pushed a package has
 * to wait behind it.
 */
export function reviewQueue(options: ReviewQueueOptions): ReviewQueue {
  const lines = [reviewLine('revisions', options), reviewLine('resources', options)];
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

function reviewLine(
  of: 'revisions' | 'resources',
  { records, blobs, reviewer, digests, leases, now, newId, log, health, ...options }: ReviewQueueOptions,
): ReviewQueue {
  const { retry = minutes(10), lookAgain = seconds(30), approved } = options;
  const unreadable = unreadableUploads(of, { health, retry, again: () => line.soon() });
  const failures = new Map<string, number>();
  /** What other processes were reviewing; whether they have is looked at again soon. */
  const elsewhere = new Set<string>();
  const stopping = Promise.withResolvers<undefined>();
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  async function drain(): Promise<void> {
    while (!stopped) {
      again = false;
      const upload = await records.uploads.nextToReview(of, [...unreadable.waiting(), ...elsewhere]);
      if (upload === undefined) {
        // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- `soon` may have been called meanwhile
        if (again) continue;
        return;
      }
      // The lease of an upload that is settled is kept: whoever has read it as waiting finds it taken, or settled.
      const held = await leases.holding(`review ${upload.id}`, () => attempt(upload), isSettled);
      if (held === undefined) elsewhere.add(upload.id);
    }
  }

  /** Whether the upload is reviewed now, by this process or another one. */
  async function attempt(upload: Review): Promise<boolean> {
    if (!(await stillWaits(upload))) return true;
    try {
      await review(upload);
      failures.delete(upload.id);
      unreadable.settled(upload.id);
      return !stopped;
    } catch (error) {
      if (error instanceof AlreadyReviewed) return true;
      await afterFailure(upload, error);
      return false;
    }
  }

  const stillWaits = async ({ id }: Review, known: Pick<Records, 'uploads'> = records): Promise<boolean> =>
    (await known.uploads.claimed(id))?.status === 'new';

  const looking = setInterval(() => {
    elsewhere.clear();
    line.soon();
  }, lookAgain).unref();

  async function review(upload: Review): Promise<void> {
    const subject = await records.packages.byId(upload.packageId);
    if (subject === undefined) return; // unregistered meanwhile; its uploads went with it
    const path = blobs.path(upload.sha3_384);
    if (!(await blobs.prove(upload.sha3_384))) throw new Error('cannot read the upload: it is damaged or missing');
    if (upload.resource !== null) {
      // A stop does not wait for the end of a large file; it is begun anew after the next start.
      const found = await Promise.race([digests.ofFile(path, ['sha384', 'sha512']), stopping.promise]);
      if (found !== undefined) await settle(upload, subject, { kind: 'resource', ...found });
      return;
    }
    const verdict = await reviewer.review({ kind: kindOf(subject), path, name: subject.name });
    if (stopped) return;
    if (!verdict.approved) await reject(upload, subject, verdict.errors);
    else await settle(upload, subject, findingsOf(verdict, await keepIcon(verdict)));
  }

  /** Approves what was found, or lays it before a person where the package's uploads are reviewed by hand. */
  async function settle(upload: Review, subject: PublishedPackage, findings: Findings): Promise<void> {
    if (stopped) return;
    const at = timestamp(now());
    const byHand = await records.packages.isReviewedByHand(subject.id);
    const entry = entryFor(upload, subject, byHand ? 'scan_upload' : 'approve_upload', at);
    await records.change(entry, async (tx, note) => {
      if (!(await stillWaits(upload, tx))) throw new AlreadyReviewed();
      if (byHand) await tx.uploads.scan(upload.id, findings);
      else note(await approveUpload(tx, { upload, subject, findings, at }));
    });
    approved?.();
  }

  async function keepIcon(verdict: Approval): Promise<string | null> {
    if (verdict.kind !== 'snap' || verdict.facts.icon === null) return null;
    const { bytes, mediaType } = verdict.facts.icon;
    const { sha3_384 } = await blobs.put(bytes, { id: newId.uuid() });
    return `${sha3_384}.${mediaType === 'image/png' ? 'png' : 'svg'}`;
  }

  async function reject(upload: Review, subject: PublishedPackage, errors: ReviewError[]): Promise<void> {
    const entry = entryFor(upload, subject, 'reject_upload', timestamp(now()));
    await records.change({ ...entry, details: { ...entry.details, errors } }, async (tx) => {
      if (!(await stillWaits(upload, tx))) throw new AlreadyReviewed();
      await tx.uploads.reject(upload.id, errors);
    });
  }

  async function afterFailure(upload: Review, error: unknown): Promise<void> {
    if (stopped) return;
    const count = (failures.get(upload.id) ?? 0) + 1;
    log.error({ err: error, upload: upload.id, attempt: count }, 'cannot review an upload');
    failures.set(upload.id, count);
    if (count < attempts) {
      await new Promise((resolve) => setTimeout(resolve, seconds(count)));
      return;
    }
    failures.delete(upload.id);
    if (unreadable.is(error)) {
      unreadable.setAside(upload.id);
      return;
    }
    unreadable.settled(upload.id);
    const subject = await records.packages.byId(upload.packageId);
    if (subject === undefined) return;
    await reject(upload, subject, [
      {
        code: 'review-error',
        message: 'The store could not review this upload; its log says why. Push the file again.',
      },
    ]);
  }

  const line: ReviewQueue = {
    soon() {
      again = true;
      if (running !== undefined || stopped) return;
      running = drain()
        .catch((error: unknown) => {
          log.error({ err: error }, 'cannot go on reviewing; the next push tries again');
        })
        .finally(() => {
          running = undefined;
          if (again && !stopped) line.soon();
        });
    },
    async idle() {
      while (running !== undefined) await running;
    },
    async stop() {
      stopped = true;
      stopping.resolve(undefined);
      clearInterval(looking);
      unreadable.stop();
      await running;
    },
  };
  return line;
}

/** Somebody else was quicker. */
class AlreadyReviewed extends Error {}

const isSettled = (settled: boolean): boolean => settled;

const entryFor = (upload: Review, subject: PublishedPackage, action: string, at: string) => ({
  at,
  actor: 'larder',
  action,
  object: `${subject.namespace}/${subject.name}`,
  details: { upload: upload.id },
});

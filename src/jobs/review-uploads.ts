// Reviews uploads in the order in which they were pushed. The records are the queue: what was left waiting
// by a stop, however sudden, is reviewed after the next start.
import type { Logger } from 'pino';

import type { Blobs } from '#blobs/blobs.ts';
import { seconds, timestamp, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import type { Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { RevisionDetails } from '#records/revisions.ts';
import type { Review, ReviewError } from '#records/uploads.ts';
import type { Reviewer } from '#review/reviewer.ts';
import type { Approval } from '#review/verdict.ts';

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
  now: Now;
  newId: NewIds;
  log: Logger;
  /** Told after each approval. */
  approved?: () => void;
}

/** After so many failures of our own with one upload, its publisher is told to push it again. */
const attempts = 3;

export function reviewQueue({ records, blobs, reviewer, now, newId, log, approved }: ReviewQueueOptions): ReviewQueue {
  const failures = new Map<string, number>();
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  async function drain(): Promise<void> {
    while (!stopped) {
      again = false;
      const upload = await records.uploads.nextToReview();
      if (upload === undefined) {
        if (again) continue;
        return;
      }
      try {
        await review(upload);
        failures.delete(upload.id);
      } catch (error) {
        await afterFailure(upload, error);
      }
    }
  }

  async function review(upload: Review): Promise<void> {
    const subject = await records.packages.byId(upload.packageId);
    if (subject === undefined) return; // unregistered meanwhile; its uploads went with it
    const path = blobs.path(upload.sha3_384);
    const kind = subject.namespace === 'snap' ? 'snap' : 'plain';
    const verdict = await reviewer.review({ kind, path, name: subject.name });
    if (stopped) return;
    if (!verdict.approved) await reject(upload, subject, verdict.errors);
    else await approve(upload, subject, verdict);
  }

  async function approve(upload: Review, subject: PublishedPackage, verdict: Approval): Promise<void> {
    const icon = await keepIcon(verdict);
    const at = timestamp(now());
    await records.change(entryFor(upload, subject, 'approve_upload', at), async (tx, note) => {
      const twin = await tx.revisions.withContent(subject.id, upload.sha3_384);
      if (twin !== undefined) {
        await tx.uploads.reject(upload.id, [
          {
            code: 'review-error',
            message: `Cannot insert package. An upload with that digest (SHA3-384: '${upload.sha3_384}') already exists in the database, as revision ${twin.revision}.`,
          },
        ]);
        note({ rejected: `same content as revision ${twin.revision}` });
        return;
      }
      const revision = (await tx.revisions.newest(subject.id)) + 1;
      const facts = verdict.kind === 'snap' ? verdict.facts : undefined;
      await tx.revisions.add({
        packageId: subject.id,
        revision,
        sha3_384: upload.sha3_384,
        sha256: upload.sha256,
        size: upload.size,
        version: facts?.version ?? String(revision),
        status: 'approved',
        createdAt: at,
        createdBy: upload.pushedBy,
        details: detailsOf(verdict),
        packageYaml: facts?.snapYaml ?? null,
        craftYaml: facts?.craftYaml ?? null,
      });
      await tx.uploads.approve(upload.id, revision);
      const latest = await tx.packages.byId(subject.id);
      if (facts !== undefined && latest !== undefined) {
        // What the snap says fills in what its publisher has not said; the icon is always the newest snap's.
        await tx.packages.describe({
          ...latest,
          title: latest.title ?? facts.title,
          summary: latest.summary ?? facts.summary,
          description: latest.description ?? facts.description,
          icon,
        });
      }
      note({ revision });
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
    await records.change({ ...entry, details: { ...entry.details, errors } }, (tx) => tx.uploads.reject(upload.id, errors));
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
    const subject = await records.packages.byId(upload.packageId);
    if (subject === undefined) return;
    await reject(upload, subject, [
      { code: 'review-error', message: 'The store could not review this upload; its log says why. Push the file again.' },
    ]);
  }

  const queue: ReviewQueue = {
    soon() {
      again = true;
      if (running !== undefined || stopped) return;
      running = drain()
        .catch((error: unknown) => {
          log.error({ err: error }, 'cannot go on reviewing; the next push tries again');
        })
        .finally(() => {
          running = undefined;
          if (again && !stopped) queue.soon();
        });
    },
    async idle() {
      while (running !== undefined) await running;
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
  return queue;
}

const entryFor = (upload: Review, subject: PublishedPackage, action: string, at: string) => ({
  at,
  actor: 'larder',
  action,
  object: `${subject.namespace}/${subject.name}`,
  details: { upload: upload.id },
});

function detailsOf(verdict: Approval): RevisionDetails {
  if (verdict.kind === 'plain') return {};
  const { apps, architectures, base, confinement, grade, type } = verdict.facts;
  return { apps, architectures, base, confinement, grade, type };
}

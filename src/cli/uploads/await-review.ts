// Waits for the review of one upload: either the serving process or this one holds the lease and reviews it.
import type { Blobs } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { Refusal } from '#domain/refusal.ts';
import { reviewQueue } from '#jobs/uploads/review-uploads.ts';
import type { Review } from '#records/uploads/uploads.ts';
import type { Reviewer } from '#review/reviewer.ts';
import { createLeases } from '#shared/leases.ts';
import { createChangeWaiter } from '#shared/change-waiter.ts';
import { textOf } from '#platform/faults.ts';
import { createHealth } from '#platform/health.ts';
import { createLog } from '#platform/log.ts';
import { Failure, type CommandCall } from '../frame/command.ts';
import type { OpenStore } from '../frame/store.ts';

export interface UploadReviewTools {
  blobs: Blobs;
  digests: DigestPool;
  reviewer: Reviewer;
}

/** Milliseconds between checks whether the reviewing process has died. */
const recheckMs = 5000;

/** Reviews a claimed upload, unless another process does; returns the upload after its review. */
export async function awaitReview(
  { records, acts, newId, now }: OpenStore,
  { blobs, digests, reviewer }: UploadReviewTools,
  id: string,
  { world, json }: Pick<CommandCall, 'world' | 'json'>,
): Promise<Review> {
  const destination = { write: (line: string) => void world.stderr.write(line) };
  const log = createLog('error', { asText: () => !json, destination });
  const health = createHealth(log);
  const leases = createLeases({ records, holder: newId.uuid(), now });
  const queue = reviewQueue({
    records,
    acts,
    blobs,
    digests,
    reviewer,
    leases,
    newId,
    log,
    health,
    recheckMs,
    only: id,
  });
  try {
    queue.soon();
    const reviewed = await createChangeWaiter().until(id, async () => {
      const upload = await records.uploads.claimed(id);
      if (upload === undefined)
        throw new Refusal('resource-not-found', 'The package of the upload was unregistered during the review.');
      const [unreadable] = await health.look();
      if (upload.status === 'new' && unreadable !== undefined)
        throw new Failure(textOf(unreadable), { code: 'unreadable' });
      return upload.status === 'new' ? undefined : upload;
    });
    return reviewed!;
  } finally {
    await queue.stop();
  }
}

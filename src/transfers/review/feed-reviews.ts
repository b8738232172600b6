// Reviews a feed of advisories in a transfer: makes its index, as an import does. The acceptance puts the index in force.
import type { TransferFeed } from '#contract/wire.ts';
import { withFile, type Blobs } from '#blobs/blobs.ts';
import type { Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import { indexFeed } from '#review/feeds/index-feed.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { missingContent, type TransferReviewResult } from './text-reviews.ts';

interface FeedReviewContext {
  records: Pick<StoreRecords, 'ephemeral' | 'vulnerabilityFeeds'>;
  blobs: Pick<Blobs, 'prove' | 'makeLocalCopy'>;
  now: Now;
  signal: AbortSignal;
}

export async function reviewFeed(
  { content: { 'sha3-384': sha3_384 }, 'skips-invalid': skipsInvalid }: TransferFeed,
  { records, blobs, now, signal }: FeedReviewContext,
): Promise<TransferReviewResult> {
  const present = (await records.vulnerabilityFeeds.list()).find((feed) => feed.sha3_384 === sha3_384);
  if (present?.isInForce === true) {
    const { format, datedAt, entries, skipped, releases } = present;
    return { kind: 'feed', format, datedAt, entries, skipped, releases };
  }
  if (!(await blobs.prove(sha3_384))) return missingContent;
  try {
    const { content } = await withFile(blobs, sha3_384, (file) =>
      indexFeed(file, { records, sha3_384, now, signal, skipsInvalid: skipsInvalid === true }),
    );
    const { format, datedAt, entries, skipped, releases } = content;
    return { kind: 'feed', format, datedAt, entries, skipped, releases };
  } catch (error) {
    if (!(error instanceof Unacceptable)) throw error;
    return { refused: error.message };
  }
}

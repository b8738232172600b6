// Makes missing indexes of feeds from their stored files: after a transfer, after the restore of a backup. Removes indexes
// that were replaced.
import { hours, timestamp, type Now } from '#domain/clock.ts';
import { withFile, type Blobs } from '#blobs/blobs.ts';
import type { StoreRecords } from '#records/index.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { indexFeed, removeIndex } from '#review/feeds/index-feed.ts';

export interface FeedIndexMeans {
  records: Pick<StoreRecords, 'ephemeral' | 'feedIndexes' | 'vulnerabilityFeeds'>;
  blobs: Pick<Blobs, 'prove' | 'makeLocalCopy'>;
  now: Now;
  signal: AbortSignal;
}

export interface FeedIndexRound {
  /** The number of indexes that were made. */
  indexed: number;
  /** Feeds with a missing, corrupt or invalid file; the previous index of each stays in force. */
  unreadable: { source: string; problem: string }[];
}

/** Another process may be making an index that is not in force yet. */
const abandonedAfter = hours(6);

export async function keepFeedsIndexed({ records, blobs, now, signal }: FeedIndexMeans): Promise<FeedIndexRound> {
  const round: FeedIndexRound = { indexed: 0, unreadable: [] };
  for (const { source, sha3_384, skipped, isInForce } of await records.vulnerabilityFeeds.list()) {
    if (isInForce) continue;
    try {
      if (!(await blobs.prove(sha3_384))) throw new Unacceptable('Its file is missing or corrupt.');
      const options = { records, sha3_384, now, signal, skipsInvalid: skipped > 0 };
      const { index, content } = await withFile(blobs, sha3_384, (file) => indexFeed(file, options));
      await records.ephemeral(async ({ feedIndexes }) => {
        await feedIndexes.complete({ id: index, ...content, source });
        await feedIndexes.putInForce(index, source);
      });
      round.indexed++;
    } catch (error) {
      if (!(error instanceof Unacceptable)) throw error;
      round.unreadable.push({ source, problem: error.message });
    }
  }
  const before = timestamp(new Date(now().getTime() - abandonedAfter));
  for (const index of await records.feedIndexes.unneeded(before)) await removeIndex(records, index);
  return round;
}

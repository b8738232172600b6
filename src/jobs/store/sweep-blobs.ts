// Job that removes content that no record needs: content stored by a process that crashed before recording it, and replaced icons.
import type { Blobs } from '#blobs/blobs.ts';
import { after, days, hours, type Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

/** Younger content is kept, because its record may not be committed yet. */
const grace = hours(1);

export const sweepBlobs = (records: StoreRecords, blobs: Blobs, now: Now): BackgroundJob => ({
  name: 'sweep-blobs',
  inDoubt: 'waits',
  every: days(1),

  async run() {
    const before = after(now(), -grace);
    let swept = 0;
    for await (const { sha3_384, storedAt } of blobs.list()) {
      if (storedAt >= before || (await records.neededContents.has(sha3_384))) continue;
      if (await blobs.remove(sha3_384, { storedBefore: before })) swept++;
    }
    return { swept };
  },
});

// Uploads that no package claims in time are forgotten, and their content with them.
import type { Blobs } from '#blobs/blobs.ts';
import { after, hours, timestamp, type Now } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

const batch = 500;

/** Forgets unclaimed uploads older than `unclaimedHours`; content that other records need stays. */
export const forgetUploads = (records: Records, blobs: Blobs, now: Now, unclaimedHours: () => number): Job => ({
  name: 'forget-uploads',
  inDoubt: 'waits',
  every: hours(1) / 4,

  async run() {
    const moment = now();
    const before = timestamp(after(moment, -hours(unclaimedHours())));
    let forgotten = 0;
    for (;;) {
      const due = await records.uploads.unclaimedSince(before, batch);
      if (due.length === 0) return { forgotten };
      const entry = {
        at: timestamp(moment),
        actor: 'larder',
        action: 'forget_uploads',
        object: 'uploads',
        details: { uploads: due.map(({ id }) => id) },
      };
      const gone = await records.change(entry, async (tx) => {
        const contents = new Set<string>();
        for (const { id, sha3_384 } of due) if (await tx.uploads.forget(id)) contents.add(sha3_384);
        const needless: string[] = [];
        for (const content of contents) if (!(await tx.neededContents.has(content))) needless.push(content);
        return needless;
      });
      // Content that was taken in again lately may be on its way into the records; should nobody record it, the sweep finds it.
      for (const content of gone) await blobs.remove(content, { storedBefore: after(moment, -hours(1)) });
      forgotten += due.length;
    }
  },
});

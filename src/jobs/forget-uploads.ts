// Uploads that no package claims in time are forgotten, and their content with them.
import type { Blobs } from '#blobs/blobs.ts';
import { removeNeedless } from '#blobs/needless.ts';
import { after, hours, timestamp, type Now } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** So few that whoever has to change something does not wait for long: each asks the records twice. */
const batch = 50;

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
      const due = await records.unclaimedUploads.receivedBefore(before, batch);
      if (due.length === 0) return { forgotten };
      const needless = await records.passing(async ({ unclaimedUploads, neededContents }) => {
        const contents = new Set<string>();
        for (const { id, sha3_384 } of due) if (await unclaimedUploads.forget(id)) contents.add(sha3_384);
        const gone: string[] = [];
        for (const content of contents) if (!(await neededContents.has(content))) gone.push(content);
        return gone;
      });
      await removeNeedless(blobs, needless, moment);
      forgotten += due.length;
    }
  },
});

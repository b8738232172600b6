// Blobs that were sent to a repository and became part of no image in time are forgotten; their content goes with the
// next sweep, unless something else needs it.
import { after, hours, timestamp, type Now } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** Forgets blobs older than a day that no manifest names: an upload lasts six hours at most. */
const grace = hours(24);

export const forgetImageBlobs = (records: Records, now: Now): Job => ({
  name: 'forget-image-blobs',
  every: hours(1),

  async run() {
    const moment = now();
    const before = timestamp(after(moment, -grace));
    if (!(await records.images.hasLoose(before))) return { forgotten: 0 };
    const entry = { at: timestamp(moment), actor: 'larder', action: 'forget_image_blobs', object: 'images' };
    const forgotten = await records.change(entry, async (tx, note) => {
      const count = await tx.images.forgetLoose(before);
      note({ blobs: count });
      return count;
    });
    return { forgotten };
  },
});

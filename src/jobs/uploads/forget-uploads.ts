// Job that removes uploads that no package claims in time, with their content.
import type { Blobs } from '#blobs/blobs.ts';
import { removeUnneeded } from '#blobs/remove-unneeded.ts';
import { after, days, hours, timestamp, type Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

/** Uploads per transaction. Small, because other changes wait and each upload needs two queries. */
const batch = 50;

/** How long a late client is told that its upload was deleted. */
const removalRemembered = days(7);

/** Hours that uploads stay while disk space is low. */
const hoursOnFullDisk = 24;
const lowDiskShare = 1 / 10;

/** Returns the hours after which an unclaimed upload is deleted: the configured value, or less while the disk is nearly full. */
async function computeUnclaimedHours(blobs: Pick<Blobs, 'free' | 'capacity'>, configured: number): Promise<number> {
  if (configured <= hoursOnFullDisk) return configured;
  const isShort = (await blobs.free()) < (await blobs.capacity()) * lowDiskShare;
  return isShort ? hoursOnFullDisk : configured;
}

/**
 * Deletes uploads that no package claimed within `unclaimedHours` of the last bytes from their client, but keeps content that other
 * records need. The limit must cover slow clients: a snap and its components can take days to upload and are claimed together at the end.
 */
export const forgetUploads = (
  records: StoreRecords,
  blobs: Blobs,
  now: Now,
  unclaimedHours: () => number,
): BackgroundJob => ({
  name: 'forget-uploads',
  inDoubt: 'waits',
  every: hours(1) / 4,

  async run() {
    const moment = now();
    const life = await computeUnclaimedHours(blobs, unclaimedHours());
    // The expiry of an upload is computed with the configured hours. If disk space is low, uploads expire earlier by the difference.
    const at = timestamp(after(moment, hours(unclaimedHours() - life)));
    const before = timestamp(after(moment, -hours(life)));
    const removal = { at: timestamp(moment), hours: life, until: timestamp(after(moment, removalRemembered)) };
    let forgotten = 0;
    for (;;) {
      const due = await records.unclaimedUploads.receivedBefore({ before, now: at }, batch);
      if (due.length === 0) return { forgotten };
      const needless = await records.ephemeral(async ({ unclaimedUploads, neededContents }) => {
        const contents = new Set<string>();
        for (const { id, sha3_384 } of due) {
          if (!(await unclaimedUploads.forget(id))) continue;
          contents.add(sha3_384);
          await unclaimedUploads.rememberRemoval(id, removal);
        }
        const gone: string[] = [];
        for (const content of contents) if (!(await neededContents.has(content))) gone.push(content);
        return gone;
      });
      await removeUnneeded(blobs, needless, moment);
      forgotten += due.length;
    }
  },
});

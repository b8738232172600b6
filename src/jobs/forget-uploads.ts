// Uploads that no package claims in time are forgotten, and their content with them.
import type { Blobs } from '#blobs/blobs.ts';
import { removeNeedless } from '#blobs/needless.ts';
import { after, days, hours, timestamp, type Now } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** So few that whoever has to change something does not wait for long: each asks the records twice. */
const batch = 50;

/** For how long a client that comes late is told that its upload was deleted. */
const removalRemembered = days(7);

/** How long uploads stay while little of the disk is free. */
const hoursOnFullDisk = 24;
const littleOfDisk = 1 / 10;

/** Hours after which an upload is deleted: as configured, or less while the disk is nearly full. */
async function hoursNow(blobs: Pick<Blobs, 'free' | 'capacity'>, configured: number): Promise<number> {
  if (configured <= hoursOnFullDisk) return configured;
  const isShort = (await blobs.free()) < (await blobs.capacity()) * littleOfDisk;
  return isShort ? hoursOnFullDisk : configured;
}

/**
 * Deletes uploads that no package has claimed `unclaimedHours` after their client last sent anything; content that other
 * records need stays. A snap and its components may take days to come, and are named together at the end.
 */
export const forgetUploads = (records: Records, blobs: Blobs, now: Now, unclaimedHours: () => number): Job => ({
  name: 'forget-uploads',
  inDoubt: 'waits',
  every: hours(1) / 4,

  async run() {
    const moment = now();
    const life = await hoursNow(blobs, unclaimedHours());
    // What a client sends is noted with the configured life; where the disk is short, that counts no longer than it should.
    const at = timestamp(after(moment, hours(unclaimedHours() - life)));
    const before = timestamp(after(moment, -hours(life)));
    const removal = { at: timestamp(moment), hours: life, until: timestamp(after(moment, removalRemembered)) };
    let forgotten = 0;
    for (;;) {
      const due = await records.unclaimedUploads.receivedBefore({ before, now: at }, batch);
      if (due.length === 0) return { forgotten };
      const needless = await records.passing(async ({ unclaimedUploads, neededContents }) => {
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
      await removeNeedless(blobs, needless, moment);
      forgotten += due.length;
    }
  },
});

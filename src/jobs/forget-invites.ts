// Invites and set-up links that nobody used in time are good for nothing but for looking back; after a while they go. What
// was done with them stands in the audit log.
import { after, days, hours, timestamp } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** For so long an invite that has ended is still known. */
const lookingBack = days(90);
/** So many rows of a kind in one run: everybody else waits for a change. */
const atOnce = 2000;

export const forgetInvites = (records: Records, latestTime: LatestTime): Job => ({
  name: 'forget-invites',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const moment = latestTime.now();
    const at = timestamp(moment);
    const before = timestamp(after(moment, -lookingBack));
    if (!(await records.invites.anyEnded(before)) && !(await records.setUpLinks.anyEnded(at))) return {};
    const entry = { at, actor: 'larder', action: 'forget_invites', object: 'invites' };
    return records.change(entry, async (tx, note) => {
      const forgotten = {
        invites: await tx.invites.forgetEnded(before, atOnce),
        setUpLinks: await tx.setUpLinks.forgetEnded(at, atOnce),
      };
      note(forgotten);
      return forgotten;
    });
  },
});

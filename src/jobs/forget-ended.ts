// Tokens, invites and set-up links that have ended are good for nothing but for looking back; after a while they go. What
// was done with them stands in the audit log.
import { after, days, hours, timestamp } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** For so long `GET /v1/tokens` and the list of invites still show what has ended. */
const lookingBack = days(90);
/** So many rows of a kind in one run: everybody else waits for a change. */
const atOnce = 2000;

export const forgetEnded = (records: Records, latestTime: LatestTime): Job => ({
  name: 'forget-ended',
  every: hours(1),

  async run() {
    const moment = latestTime.now();
    const at = timestamp(moment);
    const before = timestamp(after(moment, -lookingBack));
    const due = await Promise.all([
      records.macaroons.anyEnded(before),
      records.invites.anyEnded(before),
      records.setUpLinks.anyEnded(at),
    ]);
    if (!due.includes(true)) return {};
    const entry = { at, actor: 'larder', action: 'forget_ended', object: 'tokens' };
    return records.change(entry, async (tx, note) => {
      const forgotten = {
        tokens: await tx.macaroons.forgetEnded(before, atOnce),
        invites: await tx.invites.forgetEnded(before, atOnce),
        setUpLinks: await tx.setUpLinks.forgetEnded(at, atOnce),
      };
      note(forgotten);
      return forgotten;
    });
  },
});

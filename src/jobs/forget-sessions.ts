// Sessions that ended long ago are forgotten; what was done with them stays in the audit log.
import { after, days, hours, timestamp } from '#domain/clock.ts';
import { longestLife } from '#macaroons/authority.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** How long an ended session is still listed among the inactive ones. */
const retention = days(90);
const batch = 500;

export const forgetSessions = (records: Records, latestTime: LatestTime): Job => ({
  name: 'forget-sessions',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const moment = latestTime.now();
    const endedBefore = timestamp(after(moment, -retention));
    // A revoked session must be known for as long as the login it began with could begin it again.
    const begunBefore = timestamp(after(moment, -retention - longestLife));
    if (!(await records.macaroons.anyEnded(endedBefore, begunBefore))) return { forgotten: 0 };
    let forgotten = 0;
    for (;;) {
      const entry = { at: timestamp(moment), actor: 'larder', action: 'forget_sessions', object: 'sessions' };
      const count = await records.change(entry, async (tx, note) => {
        const gone = await tx.macaroons.forgetEnded(endedBefore, begunBefore, batch);
        note({ sessions: gone });
        return gone;
      });
      forgotten += count;
      if (count < batch) return { forgotten };
    }
  },
});

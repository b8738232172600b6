// Sessions that ended long ago are forgotten; what was done with them stays in the audit log.
import { itself, type Acts } from '#acts/act.ts';
import { forgetSessions as forget } from '#acts/tokens.ts';
import { after, days, hours, timestamp } from '#domain/clock.ts';
import { longestLife } from '#macaroons/authority.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** How long an ended session is still listed among the inactive ones. */
const retention = days(90);
const batch = 500;

export const forgetSessions = (records: Records, acts: Acts, latestTime: LatestTime): Job => ({
  name: 'forget-sessions',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const moment = latestTime.now();
    const endedBefore = timestamp(after(moment, -retention));
    // A revoked session must be known for as long as the login it began with could begin it again.
    const begunBefore = timestamp(after(moment, -retention - longestLife));
    let forgotten = 0;
    while (await records.macaroons.anyEnded(endedBefore, begunBefore)) {
      forgotten += await acts.do(forget, itself, { endedBefore, begunBefore, most: batch });
    }
    return { forgotten };
  },
});

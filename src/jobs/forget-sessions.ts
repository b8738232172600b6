// Job that removes sessions that ended long ago. The audit log keeps their acts.
import { itself, type Acts } from '#acts/act.ts';
import { forgetSessions as forget } from '#acts/tokens.ts';
import { after, days, hours, timestamp } from '#domain/clock.ts';
import { longestLife } from '#macaroons/authority.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** How long an ended session stays listed as inactive. */
const retention = days(90);
const batch = 500;

export const forgetSessions = (records: Records, acts: Acts, latestTime: LatestTime): Job => ({
  name: 'forget-sessions',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const moment = latestTime.now();
    const endedBefore = timestamp(after(moment, -retention));
    // A revoked session must stay known as long as its login could start it again.
    const begunBefore = timestamp(after(moment, -retention - longestLife));
    let forgotten = 0;
    while (await records.macaroons.anyEnded(endedBefore, begunBefore)) {
      forgotten += await acts.do(forget, itself, { endedBefore, begunBefore, most: batch });
    }
    return { forgotten };
  },
});

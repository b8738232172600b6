// Job that removes sessions that ended long ago. The audit log keeps their acts.
import { itself, type Acts } from '#acts/act.ts';
import { sweepSessions as forget } from '#acts/tokens/tokens.ts';
import { after, days, hours, timestamp } from '#domain/clock.ts';
import { maxTokenLifetimeMs } from '#macaroons/authority.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

/** How long an ended session stays listed as inactive. */
const retention = days(90);
const batch = 500;

export const forgetSessions = (records: StoreRecords, acts: Acts, latestTime: LatestTime): BackgroundJob => ({
  name: 'forget-sessions',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const moment = latestTime.now();
    const endedBefore = timestamp(after(moment, -retention));
    // A revoked session must stay known as long as its login could start it again.
    const begunBefore = timestamp(after(moment, -retention - maxTokenLifetimeMs));
    let forgotten = 0;
    while (await records.macaroons.anyEnded(endedBefore, begunBefore)) {
      forgotten += await acts.do(forget, itself, { endedBefore, begunBefore, maxSessions: batch });
    }
    return { forgotten };
  },
});

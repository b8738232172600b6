// Credentials to pull images that ended long ago are forgotten; that they were ended stays in the audit log.
import { itself, type Acts } from '#acts/act.ts';
import { forgetPullCredentials as forget } from '#acts/image-credentials.ts';
import { after, days, hours, timestamp } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** For so long credentials that have ended are still listed. */
const lookingBack = days(90);
/** So many rows in one run: everybody else waits for a change. */
const atOnce = 2000;

export const forgetPullCredentials = (records: Records, acts: Acts, latestTime: LatestTime): Job => ({
  name: 'forget-pull-credentials',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const before = timestamp(after(latestTime.now(), -lookingBack));
    if (!(await records.imageCredentials.anyEnded(before))) return { forgotten: 0 };
    return { forgotten: await acts.do(forget, itself, { before, atMost: atOnce }) };
  },
});

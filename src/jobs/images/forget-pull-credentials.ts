// Job that removes pull credentials that ended long ago. The audit log keeps the record of their end.
import { itself, type Acts } from '#acts/act.ts';
import { sweepPullCredentials as forget } from '#acts/images/credentials.ts';
import { after, days, hours, timestamp } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

/** How long ended credentials stay listed. */
const lookingBack = days(90);
/** Maximum rows per run, because other changes wait during a run. */
const maxRows = 2000;

export const forgetPullCredentials = (records: StoreRecords, acts: Acts, latestTime: LatestTime): BackgroundJob => ({
  name: 'forget-pull-credentials',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const before = timestamp(after(latestTime.now(), -lookingBack));
    if (!(await records.imageCredentials.anyEnded(before))) return { forgotten: 0 };
    return { forgotten: await acts.do(forget, itself, { before, atMost: maxRows }) };
  },
});

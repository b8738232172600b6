// Job that removes old ended proposals. The audit log keeps their acts.
import { itself, type Acts } from '#acts/act.ts';
import { sweepProposals as forget } from '#acts/approvals/proposals.ts';
import { after, days, hours, timestamp } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

/** How long an ended proposal stays visible. */
const lookingBack = days(90);
/** Maximum proposals per run, because other changes wait during a run. */
const maxProposals = 500;

export const forgetProposals = ({ proposals }: StoreRecords, acts: Acts, latestTime: LatestTime): BackgroundJob => ({
  name: 'forget-proposals',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const before = timestamp(after(latestTime.now(), -lookingBack));
    return (await proposals.anyEnded(before)) ? acts.do(forget, itself, { before, atMost: maxProposals }) : {};
  },
});

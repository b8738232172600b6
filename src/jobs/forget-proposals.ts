// Job that removes old ended proposals. The audit log keeps their acts.
import { itself, type Acts } from '#acts/act.ts';
import { forgetProposals as forget } from '#acts/proposals.ts';
import { after, days, hours, timestamp } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** How long an ended proposal stays visible. */
const lookingBack = days(90);
/** Maximum proposals per run, because other changes wait during a run. */
const atOnce = 500;

export const forgetProposals = ({ proposals }: Records, acts: Acts, latestTime: LatestTime): Job => ({
  name: 'forget-proposals',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const before = timestamp(after(latestTime.now(), -lookingBack));
    return (await proposals.anyEnded(before)) ? acts.do(forget, itself, { before, atMost: atOnce }) : {};
  },
});

// Proposals that ended long ago go; what was done by them stands in the audit log.
import { itself, type Acts } from '#acts/act.ts';
import { forgetProposals as forget } from '#acts/proposals.ts';
import { after, days, hours, timestamp } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** For so long a proposal that has ended is still known. */
const lookingBack = days(90);
/** So many in one run: everybody else waits for a change. */
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

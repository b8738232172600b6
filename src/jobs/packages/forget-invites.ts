// Job that removes old invites, expired set-up links and ended offers of packages. The audit log keeps the acts.
import { itself, type Acts } from '#acts/act.ts';
import { sweepInvites as forget } from '#acts/packages/collaborators.ts';
import { after, days, hours, timestamp } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

/** How long an ended invite stays visible. */
const lookingBack = days(90);
/** Maximum rows of each kind per run, because other changes wait during a run. */
const maxRows = 2000;

export const forgetInvites = (records: StoreRecords, acts: Acts, latestTime: LatestTime): BackgroundJob => ({
  name: 'forget-invites',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const moment = latestTime.now();
    const ended = {
      invitesBefore: timestamp(after(moment, -lookingBack)),
      unusedBefore: timestamp(moment),
      atMost: maxRows,
    };
    const { invites, setUpLinks, packageOffers } = records;
    const isDue =
      (await invites.anyEnded(ended.invitesBefore)) ||
      (await setUpLinks.anyEnded(ended.unusedBefore)) ||
      (await packageOffers.anyEnded(ended.unusedBefore));
    return isDue ? acts.do(forget, itself, ended) : {};
  },
});

// Invites, set-up links and offers of packages that nobody used in time are good for nothing but for looking back; after a
// while they go. What was done with them stands in the audit log.
import { itself, type Acts } from '#acts/act.ts';
import { forgetInvites as forget } from '#acts/collaborators.ts';
import { after, days, hours, timestamp } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

/** For so long an invite that has ended is still known. */
const lookingBack = days(90);
/** So many rows of a kind in one run: everybody else waits for a change. */
const atOnce = 2000;

export const forgetInvites = (records: Records, acts: Acts, latestTime: LatestTime): Job => ({
  name: 'forget-invites',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const moment = latestTime.now();
    const ended = {
      invitesBefore: timestamp(after(moment, -lookingBack)),
      unusedBefore: timestamp(moment),
      atMost: atOnce,
    };
    const { invites, setUpLinks, packageOffers } = records;
    const isDue =
      (await invites.anyEnded(ended.invitesBefore)) ||
      (await setUpLinks.anyEnded(ended.unusedBefore)) ||
      (await packageOffers.anyEnded(ended.unusedBefore));
    return isDue ? acts.do(forget, itself, ended) : {};
  },
});

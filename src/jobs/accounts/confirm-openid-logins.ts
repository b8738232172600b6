// Job that lets the OpenID provider confirm logins again, and suspends roles of groups that it has not confirmed for an hour.
import { expireGroupRoles } from '#acts/accounts/group-roles.ts';
import { itself, type Acts } from '#acts/act.ts';
import { after, hours, minutes, timestamp } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { StoreRecords } from '#records/index.ts';
import type { RefreshableConfirmation, RenewalOutcome } from '#records/login/openid-logins.ts';
import type { BackgroundJob } from '../runner.ts';

export interface OpenidConfirmationOptions {
  records: StoreRecords;
  acts: Acts;
  latestTime: LatestTime;
  /** Asks the provider about one account. */
  renew(confirmation: RefreshableConfirmation): Promise<RenewalOutcome>;
}

const renewAfter = minutes(15);
const validFor = hours(1);
/** Maximum accounts per run, because the other jobs of a process wait. */
const maxAccounts = 200;
/** The provider is away after this many failed requests: each can take 10 s. */
const maxUnavailable = 3;

export const confirmOpenidLogins = ({
  records,
  acts,
  latestTime,
  renew,
}: OpenidConfirmationOptions): BackgroundJob => ({
  name: 'confirm-openid-logins',
  inDoubt: 'waits',
  every: minutes(1),

  async run() {
    const now = latestTime.now();
    const counts = { confirmed: 0, ended: 0, unreadable: 0, unavailable: 0, suspended: 0 };
    for (const due of await records.openidLogins.due(timestamp(after(now, -renewAfter)), maxAccounts)) {
      counts[await renew(due)]++;
      // The next run tries again.
      if (counts.unavailable >= maxUnavailable) break;
    }
    for (const id of await records.groupRoles.unconfirmed(timestamp(after(now, -validFor)), maxAccounts)) {
      await acts.do(expireGroupRoles, itself, { id });
      counts.suspended++;
    }
    return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  },
});

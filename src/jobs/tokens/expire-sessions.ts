// Job that ends sessions of the console by the rules of the configuration, so that the audit log has their ends.
import { itself, type Acts } from '#acts/act.ts';
import { expireBrowserSession } from '#acts/tokens/tokens.ts';
import { minutes, timestamp } from '#domain/clock.ts';
import { findSessionsToEnd, type SessionRules } from '#domain/tokens/session-rules.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

/** Maximum number of sessions ended in a run, because each is a change and other changes wait. */
const batch = 500;

export const expireSessions = (
  records: StoreRecords,
  acts: Acts,
  latestTime: LatestTime,
  rules: () => SessionRules,
): BackgroundJob => ({
  name: 'expire-sessions',
  inDoubt: 'waits',
  every: minutes(1),

  async run() {
    const now = latestTime.now();
    const open = await records.macaroons.consoleSessions(null, timestamp(now));
    const due = findSessionsToEnd(open, rules(), now).slice(0, batch);
    for (const session of due) await acts.do(expireBrowserSession, itself, session);
    return { expired: due.length };
  },
});

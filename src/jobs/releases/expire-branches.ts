// Job that removes expired branches from the records. Clients no longer see a branch once it has expired.
import { itself, type Acts } from '#acts/act.ts';
import { expireBranches as expire } from '#acts/releases/releases.ts';
import { hours, timestamp, type Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

export const expireBranches = (records: StoreRecords, acts: Acts, now: Now): BackgroundJob => ({
  name: 'expire-branches',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    if (!(await records.releases.anyExpired(timestamp(now())))) return { expired: 0 };
    return { expired: await acts.do(expire, itself, undefined) };
  },
});

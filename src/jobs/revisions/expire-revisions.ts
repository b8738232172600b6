// Job that deletes old revisions if retention is configured. The blob sweep removes their bytes later.
import { itself, type Acts } from '#acts/act.ts';
import { expireRevisions as expire, findOldRevisions, type RetentionRule } from '#acts/revisions/old-revisions.ts';
import { days, timestamp, type Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

/** Packages to check per act. */
const batch = 100;

export const expireRevisions = (
  records: StoreRecords,
  acts: Acts,
  now: Now,
  settings: () => { readonly keep?: number; readonly older_than_days: number },
): BackgroundJob => ({
  name: 'expire-revisions',
  inDoubt: 'waits',
  every: days(1),

  async run() {
    const { keep, older_than_days } = settings();
    if (keep === undefined) return {};
    const rule: RetentionRule = { keep, olderThan: days(older_than_days) };
    let expired = 0;
    for (let after = ''; ;) {
      const packages = await records.oldRevisions.packagesWithMore(keep, after, batch);
      for (;;) {
        const due = await withOldRevisions(records, packages, rule, timestamp(now()));
        if (due.length === 0) break;
        expired += (await acts.do(expire, itself, { packages: due, rule })).expired;
      }
      if (packages.length < batch) return { expired };
      after = packages.at(-1)!;
    }
  },
});

/** Returns the packages that have revisions to delete. */
async function withOldRevisions(
  records: StoreRecords,
  packages: readonly string[],
  rule: RetentionRule,
  now: string,
): Promise<string[]> {
  const ids: string[] = [];
  for (const id of packages) {
    const subject = await records.packages.byId(id);
    if (subject !== undefined && (await findOldRevisions(records, subject, rule, now)).revisions.length > 0)
      ids.push(id);
  }
  return ids;
}

// Branches that have expired leave the records; nobody has seen them since they did.
import { hours, timestamp, type Now } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

export const expireBranches = (records: Records, now: Now): Job => ({
  name: 'expire-branches',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const at = timestamp(now());
    if (!(await records.releases.anyExpired(at))) return { expired: 0 };
    const entry = { at, actor: 'larder', action: 'expire_branches', object: 'releases' };
    const expired = await records.change(entry, async (tx, note) => {
      const count = await tx.releases.removeExpired(at);
      note({ expired: count });
      return count;
    });
    return { expired };
  },
});

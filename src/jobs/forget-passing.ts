// What passes is swept when it has ended: failed attempts, logins under way, leases. No audit log tells of it.
import { minutes, timestamp, type Now } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

export const forgetPassing = (records: Pick<Records, 'passing' | 'passed'>, now: Now): Job => ({
  name: 'forget-passing',
  inDoubt: 'waits',
  every: minutes(10),

  async run() {
    const at = timestamp(now());
    if (!(await records.passed.any(at))) return { forgotten: 0 };
    const forgotten = await records.passing(async (tx) => {
      const { failures, leases, loginsUnderWay, registryUploads } = tx;
      const counts = [
        await failures.sweep(at),
        await leases.sweep(at),
        await loginsUnderWay.sweep(at),
        await registryUploads.sweep(at),
      ];
      return counts.reduce((sum, count) => sum + count, 0);
    });
    return { forgotten };
  },
});

// The head of the audit log is sealed every hour: a log that somebody computed anew does not lead to the sealed heads.
import { hours, timestamp } from '#domain/clock.ts';
import type { LatestTime } from '#macaroons/latest-time.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

export const sealAudit = (records: Records, siteKey: Buffer, latestTime: LatestTime): Job => ({
  name: 'seal-audit',
  every: hours(1),

  async run() {
    const at = timestamp(latestTime.now());
    await records.change({ at, actor: 'larder', action: 'seal_audit', object: 'audit' }, async (tx, note) => {
      note({ sealed: await tx.audit.seal(siteKey, at) });
    });
    return {};
  },
});

// Job that seals the head of the audit log every hour, even if little was written. A truncated or recomputed log does not match the sealed
// heads.
import { hours, seconds } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

export const sealAudit = (records: Pick<StoreRecords, 'seal'>): BackgroundJob => ({
  name: 'seal-audit',
  inDoubt: 'runs',
  every: hours(1),

  async run() {
    await records.seal();
    return {};
  },
});

/**
 * Job that writes the number and hash of the last row to the seal file, so that the loss of the last minutes of the database is noticed.
 * Costs one query if the log is unchanged, else one small file write; no request waits for it.
 */
export const noteAuditEnd = (records: Pick<StoreRecords, 'noteAuditEnd'>): BackgroundJob => ({
  name: 'note-audit-end',
  inDoubt: 'runs',
  // Runs in every process: each host has its own seal file. A lease would also write to the database every 10 s.
  oncePer: 'process',
  every: seconds(10),

  async run() {
    await records.noteAuditEnd();
    return {};
  },
});

// The head of the audit log is sealed every hour, however little was written: a log that somebody cuts or computes anew
// does not lead to the sealed heads.
import { hours, seconds } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import type { Job } from './runner.ts';

export const sealAudit = (records: Pick<Records, 'seal'>): Job => ({
  name: 'seal-audit',
  inDoubt: 'runs',
  every: hours(1),

  async run() {
    await records.seal();
    return {};
  },
});

/**
 * How far the log has come is noted beside the newest seal, so that a database without its last minutes is noticed. If nothing
 * was written it costs one query; else it writes one small file, and no request waits for it.
 */
export const noteAuditEnd = (records: Pick<Records, 'noteAuditEnd'>): Job => ({
  name: 'note-audit-end',
  inDoubt: 'runs',
  // Each host has a file of its own; a lease would write to the database.
  oncePer: 'process',
  every: seconds(10),

  async run() {
    await records.noteAuditEnd();
    return {};
  },
});

// The head of the audit log is sealed every hour, however little was written: a log that somebody cuts or computes anew
// does not lead to the sealed heads.
import { hours } from '#domain/clock.ts';
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

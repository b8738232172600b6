// The job that reads bills of materials, beside a serving store of a test.
import pino from 'pino';

import { readBills } from '#jobs/vulnerabilities/read-bills.ts';
import type { BackgroundJob } from '#jobs/runner.ts';
import { startWorker } from '#platform/embedded.ts';
import { createReviewer } from '#review/reviewer.ts';
import type { TestAppliance } from '#test/fixtures/appliance.ts';
import { blobsBeside } from '#test/fixtures/contents.ts';

export async function billsJob(
  t: { teardown(work: () => unknown): void },
  store: TestAppliance,
): Promise<BackgroundJob> {
  const reviewer = createReviewer({ startWorker: (options) => startWorker('src/review/worker.ts', options) });
  t.teardown(() => reviewer.close());
  const { records, acts } = store.beside;
  const blobs = await blobsBeside(t, store);
  return readBills({ records, acts, blobs, reviewer, log: pino({ level: 'silent' }) });
}

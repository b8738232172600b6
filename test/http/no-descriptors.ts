// A process that has used up its descriptors, and still asks threads for digests and a review. It prints the status for
// each failure.
import { closeSync, openSync } from 'node:fs';

import { toErrorResponse } from '#http/error-responses.ts';
import { isOutOfFiles } from '#platform/system-errors.ts';
import { createDigestPool } from '#blobs/digests.ts';
import { createReviewer } from '#review/reviewer.ts';
import { startWorker } from '#platform/embedded.ts';

const file = process.argv[2] ?? '';
const pool = () => createDigestPool((worker) => startWorker('src/blobs/digest-worker.ts', worker), 1);
const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => {
      const { status, headers } = toErrorResponse(error, 'publisher', undefined);
      return `${String(status)} ${String(headers['retry-after'])} ${String(isOutOfFiles(error))}`;
    },
  );

const running = pool();
const reviewer = createReviewer({ startWorker: (worker) => startWorker('src/review/worker.ts', worker) });
const review = () => reviewer.review({ kind: 'snap', path: file, name: 'tiny-app' });
await running.ofFile(file, ['sha256']);
await review();

const held: number[] = [];
try {
  for (;;) held.push(openSync('/dev/null', 'r'));
} catch {
  // Now there is none left.
}
const started = pool();
const outcomes = [
  await outcome(running.ofFile(file, ['sha256'])),
  await outcome(review()),
  await outcome(started.ofFile(file, ['sha256'])),
];
for (const descriptor of held) closeSync(descriptor);
outcomes.push(await outcome(started.ofFile(file, ['sha256'])));
await running.close();
await started.close();
await reviewer.close();
process.stdout.write(`${JSON.stringify(outcomes)}\n`);

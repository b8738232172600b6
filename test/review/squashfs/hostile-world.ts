// The world that the tests of hostile.test.ts and hostile.tools.test.ts share.
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Test } from 'tap';
import type { Outcome } from './hostile-worker.ts';

/** Images changed at random, each reviewed under the bounds of a real review; the thread that does it must survive. */
export async function tried(images: Uint8Array[], runs: number, seed: number): Promise<Outcome> {
  const worker = new Worker(join(import.meta.dirname, 'hostile-worker.ts'), {
    workerData: { images, runs, seed },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 56, maxYoungGenerationSizeMb: 8 },
  });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

export function check(t: Test, outcome: Outcome, runs: number): void {
  t.same(outcome.faults, [], 'every image is taken or refused with a sentence');
  t.equal(outcome.approved + outcome.refused, runs);
  t.ok(outcome.refused > runs / 10, `${String(outcome.refused)} of ${String(runs)} are refused`);
  t.ok(outcome.slowestMs < 2000, `the slowest takes ${outcome.slowestMs.toFixed(0)} ms`);
  t.ok(outcome.mostBufferBytes < 64 << 20, `buffers have ${String(outcome.mostBufferBytes >> 20)} MB at most`);
}

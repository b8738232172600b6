// The thread that makes a delta, or makes a file of one, a piece for each time that it is asked.
import { createHash } from 'node:crypto';
import { openSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

import { yieldToOthers } from '#src/yield-to-others.ts';
import { decode } from './decoder.ts';
import { encode } from './encoder.ts';
import { Source } from './source.ts';

/** Paths of files, which do not change meanwhile. `most` is how many bytes may come of the delta. */
export type DeltaTask =
  { task: 'make'; older: string; newer: string } | { task: 'rebuild'; older: string; delta: string; most: number };

/** The next piece of the delta, or what the rebuilt file is; nothing more comes after `isLast`. */
export interface DeltaReport {
  piece: Uint8Array<ArrayBuffer>;
  isLast: boolean;
}

// The thread ends with its task, and its descriptors with it.
const source = (path: string): Source => new Source(openSync(path, 'r'));

function* pieces(task: DeltaTask): Generator<Uint8Array, void, undefined> {
  if (task.task === 'make') {
    yield* encode(source(task.older), source(task.newer));
    return;
  }
  const hash = createHash('sha3-384');
  for (const window of decode(source(task.older), source(task.delta), task.most)) hash.update(window);
  yield hash.digest();
}

yieldToOthers();
const made = pieces(workerData as DeltaTask);
parentPort?.on('message', () => {
  const { value, done } = made.next();
  // A copy of its own, because the memory goes with it.
  const report: DeltaReport = { piece: new Uint8Array(value ?? []), isLast: done === true };
  parentPort?.postMessage(report, [report.piece.buffer]);
});

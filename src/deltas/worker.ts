// Worker thread that makes or applies a delta and sends one piece per request.
import { createDigest } from '#domain/cryptography.ts';
import { openSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

import { yieldToOthers } from '#platform/yield-to-others.ts';
import { decode } from './decoder.ts';
import { encode } from './encoder.ts';
import { RandomAccessFile } from './random-access-file.ts';

/** Paths of files that must not change during the task. `maxBytes` is the maximum size of the rebuilt file in bytes. */
export type DeltaTask =
  { task: 'make'; older: string; newer: string } | { task: 'rebuild'; older: string; delta: string; maxBytes: number };

/** The next piece of the delta, or the digest of the rebuilt file. No message follows `isLast`. */
export interface DeltaReport {
  piece: Uint8Array<ArrayBuffer>;
  isLast: boolean;
}

// The thread exits after its task, which closes its descriptors.
const source = (path: string): RandomAccessFile => new RandomAccessFile(openSync(path, 'r'));

function* pieces(task: DeltaTask): Generator<Uint8Array, void, undefined> {
  if (task.task === 'make') {
    yield* encode(source(task.older), source(task.newer));
    return;
  }
  const hash = createDigest('content sha3-384');
  for (const window of decode(source(task.older), source(task.delta), task.maxBytes)) hash.update(window);
  yield hash.digest();
}

yieldToOthers();
const made = pieces(workerData as DeltaTask);
parentPort?.on('message', () => {
  const { value, done } = made.next();
  // Send a copy, because posting transfers its memory.
  const report: DeltaReport = { piece: new Uint8Array(value ?? []), isLast: done === true };
  parentPort?.postMessage(report, [report.piece.buffer]);
});

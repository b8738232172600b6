// The thread that reviews the hostile images: it changes images at random and reports the results of their reviews.
import { setImmediate } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

import { readSnap } from '#review/snaps/snap.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { inMemory } from '../packed.ts';

export interface Outcome {
  approved: number;
  refused: number;
  slowestMs: number;
  mostBufferBytes: number;
  /** The exception, if it is no sentence, with the seed of the image. */
  faults: string[];
}

const { images, runs, seed } = workerData as { images: Uint8Array<ArrayBuffer>[]; runs: number; seed: number };
const odd = [
  0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x00ff_ffff, 0x0100_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff,
];
const superblockSize = 96;

let state = 0;
function below(limit: number): number {
  state = (state ^ (state << 13)) >>> 0;
  state = (state ^ (state >>> 17)) >>> 0;
  state = (state ^ (state << 5)) >>> 0;
  return state % limit;
}

/** Changes one place: in the superblock, in the tables (which are at the end of the used part), or anywhere. */
function change(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer);
  const used = Math.min(bytes.length, Number(view.getBigUint64(40, true) & 0xff_ffffn) || bytes.length);
  const tables = Math.min(used - 1, Number(view.getBigUint64(64, true) & 0xff_ffffn));
  const places = [
    () => below(superblockSize),
    () => tables + below(used - tables),
    () => tables + below(used - tables),
    () => below(used),
  ];
  const at = Math.min(bytes.length - 4, places[below(places.length)]?.() ?? 0);
  switch (below(8)) {
    case 0:
      return bytes.slice(0, below(bytes.length));
    case 1:
      view.setUint32(at, odd[below(odd.length)] ?? 0, true);
      return bytes;
    case 2:
      view.setUint16(at, odd[below(odd.length)] ?? 0, true);
      return bytes;
    case 3:
      bytes.copyWithin(at, below(used), Math.min(used, below(used) + 64));
      return bytes;
    case 4:
      bytes[at] = below(256);
      return bytes;
    default:
      bytes[at] = (bytes[at] ?? 0) ^ (1 << below(8));
      return bytes;
  }
}

const outcome: Outcome = { approved: 0, refused: 0, slowestMs: 0, mostBufferBytes: 0, faults: [] };
for (let run = 0; run < runs; run++) {
  // Node frees the memory of its decompressors only between tasks, and a real worker has one task for each review.
  if (run % 50 === 0) await setImmediate();
  const own = Math.imul(seed * runs + run + 1, 2654435761) >>> 0 || 1;
  state = own;
  let bytes = (images[run % images.length] ?? new Uint8Array()).slice();
  for (let changes = 1 + below(3); changes > 0 && bytes.length > superblockSize; changes--) bytes = change(bytes);
  const started = performance.now();
  try {
    readSnap(inMemory(bytes), 'tiny-app');
    outcome.approved++;
  } catch (error) {
    if (error instanceof Unacceptable) outcome.refused++;
    else
      outcome.faults.push(`${String(own)}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  outcome.slowestMs = Math.max(outcome.slowestMs, performance.now() - started);
  if (run % 16 === 0) outcome.mostBufferBytes = Math.max(outcome.mostBufferBytes, process.memoryUsage().arrayBuffers);
}
outcome.faults.splice(5);
parentPort?.postMessage(outcome);

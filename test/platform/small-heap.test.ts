// A command that processes much data stays small, on any host.
import t from 'tap';

import { largestSize } from './garbage.ts';

/** Makes 130 MiB of short-lived objects; returns the MiB of heap for that. */
const heapOf = (before: string): number =>
  largestSize({
    module: 'small-heap.ts',
    names: 'allowSmallHeap, keepHeapSmall',
    before,
    rounds: 60,
    objects: 32 * 1024,
    pauseMs: 40,
    size: 'getHeapStatistics().total_heap_size',
  });

t.test('garbage is collected before there is much of it', async (t) => {
  const as = heapOf('keepHeapSmall()');
  for (const calls of ['keepHeapSmall(); keepHeapSmall()', 'keepHeapSmall({ optimizesForSize: false })']) {
    const small = heapOf(`allowSmallHeap(); ${calls}`);
    t.ok(small < 64 && small < as / 1.5, `${small.toFixed(0)} MiB rather than ${as.toFixed(0)} after ${calls}`);
  }
});

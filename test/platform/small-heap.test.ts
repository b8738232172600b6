// A command that processes much data stays small, on any host.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import t from 'tap';

const source = join(import.meta.dirname, '../../src/platform/small-heap.ts');

/** Makes 130 MiB of short-lived objects; returns the MiB of heap for that. */
function heapOf(before: string): number {
  const script = `
    import { allowSmallHeap, keepHeapSmall } from ${JSON.stringify(source)};
    import { setTimeout } from 'node:timers/promises';
    import { getHeapStatistics } from 'node:v8';
    ${before};
    const lately = [];
    let most = 0;
    for (let round = 0; round < 60; round++) {
      lately.push(Array.from({ length: 32 * 1024 }, (_, at) => ({ at, round, text: 'x' + at })));
      if (lately.length > 3) lately.shift();
      most = Math.max(most, getHeapStatistics().total_heap_size);
      await setTimeout(40);
    }
    console.log(most / 2 ** 20);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return Number(stdout);
}

t.test('garbage is collected before there is much of it', async (t) => {
  const as = heapOf('keepHeapSmall()');
  for (const calls of ['keepHeapSmall(); keepHeapSmall()', 'keepHeapSmall({ optimizesForSize: false })']) {
    const small = heapOf(`allowSmallHeap(); ${calls}`);
    t.ok(small < 64 && small < as / 1.5, `${small.toFixed(0)} MiB rather than ${as.toFixed(0)} after ${calls}`);
  }
});

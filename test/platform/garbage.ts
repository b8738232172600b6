// Measures a heap while objects become garbage.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

interface Garbage {
  /** A module of `src/platform`, and the names that the scripts use from it. */
  module: string;
  names: string;
  /** Scripts that run at first, and in each round. */
  before: string;
  each?: string;
  rounds: number;
  /** The objects of a round; they live for three more. */
  objects: number;
  pauseMs: number;
  /** The expression for the measured bytes. */
  size: string;
}

/** Makes objects that survive a few collections, in a process of its own; returns the largest measured size in MiB. */
export function largestSize({ module, names, before, each = '', rounds, objects, pauseMs, size }: Garbage): number {
  const script = `
    import { ${names} } from ${JSON.stringify(join(import.meta.dirname, '../../src/platform', module))};
    import { setTimeout } from 'node:timers/promises';
    import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
    ${before};
    const lately = [];
    let most = 0;
    for (let round = 0; round < ${String(rounds)}; round++) {
      lately.push(Array.from({ length: ${String(objects)} }, (_, at) => ({ at, round, text: 'x' + at })));
      if (lately.length > 3) lately.shift();
      ${each};
      most = Math.max(most, ${size});
      await setTimeout(${String(pauseMs)});
    }
    console.log(most / 2 ** 20);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return Number(stdout);
}

// The young generation of a serving process stays small while it answers few requests, and grows while it answers many.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import t from 'tap';

const source = join(import.meta.dirname, '../../src/platform/nursery.ts');

/** Makes objects that survive a few collections; returns the largest size of the young generation in MiB. */
function youngOf(before: string, each = ''): number {
  const script = `
    import { limitNursery, noteAnswered } from ${JSON.stringify(source)};
    import { setTimeout } from 'node:timers/promises';
    import { getHeapSpaceStatistics } from 'node:v8';
    ${before};
    const lately = [];
    let most = 0;
    for (let round = 0; round < 400; round++) {
      lately.push(Array.from({ length: 4 * 1024 }, (_, at) => ({ at, round, text: 'x' + at })));
      if (lately.length > 3) lately.shift();
      ${each};
      most = Math.max(most, getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size);
      await setTimeout(5);
    }
    console.log(most / 2 ** 20);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return Number(stdout);
}

t.test('the young generation grows with many requests, or without the limit, and else stays small', async (t) => {
  const [quiet, busy] = [
    youngOf('limitNursery()'),
    youngOf('limitNursery()', 'for (let n = 0; n < 500; n++) noteAnswered()'),
  ];
  const [free, stopped] = [youngOf(''), youngOf('const limit = limitNursery()', 'if (round === 100) limit.stop()')];
  t.ok(quiet <= 8, `${quiet} MiB with few requests`);
  for (const [grown, name] of [
    [busy, 'with many requests'],
    [free, 'without the limit'],
    [stopped, 'after its end'],
  ] as const)
    t.ok(grown >= 16, `${grown} MiB ${name}`);
});

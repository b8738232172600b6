// The young generation of a serving process stays small while it answers few requests, and grows while it answers many.
import t from 'tap';

import { largestSize } from './garbage.ts';

/** Returns the largest size of the young generation in MiB. */
const youngOf = (before: string, each?: string): number =>
  largestSize({
    module: 'nursery.ts',
    names: 'limitNursery, noteAnswered',
    before,
    ...(each !== undefined && { each }),
    rounds: 400,
    objects: 4 * 1024,
    pauseMs: 5,
    size: "getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size",
  });

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

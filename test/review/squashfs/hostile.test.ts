import t from 'tap';
import { snapBytes, snapNames } from '../fixtures.ts';
import { long } from '../packed.ts';
import { tried, check } from './hostile-world.ts';

if (long) t.setTimeout(600_000);

t.test('small images with any change come to an end', async (t) => {
  const runs = long ? 500_000 : 5000;
  const images = snapNames.map(snapBytes);
  check(t, await tried(images, runs, 1), runs);
});

// The simulation of a bad revision at the size that the guide promises something about.
import t from 'tap';

import { manyDevicesFail } from './rollout-simulation.ts';
import { makePumps, startRollouts } from './rollout-world.ts';

t.setTimeout(1_800_000);

t.test('a revision that fails on 30 % of 10,000 devices reaches at most 12 % of them', async (t) => {
  const world = await startRollouts(t);
  await manyDevicesFail(t, world, await makePumps(world.store, 10_000), { maxReached: 1200 });
});

// Many devices, and a revision that fails on three of ten.
import type { Test } from 'tap';

import { hours, minutes, seconds } from '#domain/clock.ts';
import type { Pump, RolloutWorld } from './rollout-world.ts';

/** Each device calls every half hour. Steps of 10 % per hour pause when more than 5 % of at least 20 devices failed. */
export async function manyDevicesFail(
  t: Test,
  { store, rollOut, show, call, job }: RolloutWorld,
  pumps: readonly Pump[],
  { maxReached }: { maxReached: number },
): Promise<void> {
  await rollOut(2, {
    steps: [10],
    'interval-seconds': hours(1) / seconds(1),
    failures: { percentage: 5, devices: 20 },
  });
  const isBroken = ({ serial }: Pump): boolean => Number(serial.slice(2)) % 10 < 3;
  const reached = new Set<Pump>();
  const isPaused = async (): Promise<boolean> => (await show(1)).state === 'paused';
  let isPassed = false;
  for (let tick = 0; tick < 60; tick++) {
    const phase = pumps.filter((_, at) => at % 6 === tick % 6);
    for (const pump of await call(phase, (pump) => !isBroken(pump))) reached.add(pump);
    isPassed = await hasPassed(show);
    t.equal(await isPaused(), false, 'not before the bound is passed');
    store.clock.advance(seconds(15));
    await job.run();
    if (isPassed) break;
    store.clock.advance(minutes(5) - seconds(15));
    await job.run();
  }
  t.ok(isPassed, 'the bound is passed');
  t.equal(await isPaused(), true, 'the next run of the job stops it, 15 s later');
  for (const pump of await call(pumps, () => false)) reached.add(pump);
  t.match(await show(1), { percentage: 10, because: /more than 5 %/ });
  t.ok(job.every <= minutes(1));
  t.ok(reached.size <= maxReached, `${String(reached.size)} of ${String(pumps.length)} devices ever got it`);
}

async function hasPassed(show: RolloutWorld['show']): Promise<boolean> {
  const [{ took, failed }] = (await show(1)).steps as [{ took: number; failed: number }];
  return took + failed >= 20 && failed * 100 > (took + failed) * 5;
}

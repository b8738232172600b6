// Rollouts: the store raises the percentage of a release while devices do well, and stops when they do not.
import t from 'tap';

import { hours, minutes, seconds } from '#domain/clock.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { manyDevicesFail } from './rollout-simulation.ts';
import { makePumps, quickPlan, startRollouts, type Pump } from './rollout-world.ts';

t.setTimeout(600_000);

largeTest('a revision that fails on 30 % of 400 devices stops in its first step', async (t) => {
  const world = await startRollouts(t);
  await manyDevicesFail(t, world, await makePumps(world.store, 400), { maxReached: 80 });
});

t.test('a rollout rises step by step while devices do well, and the same devices keep the revision', async (t) => {
  const { store, rollOut, show, call, pass, job, run } = await startRollouts(t);
  const pumps = await makePumps(store, 50);
  t.equal((await rollOut(2, { ...quickPlan, steps: [25, 60, 100] })).status, 200);
  const first = await call(pumps);
  t.ok(first.length > 2 && first.length < 25, `${String(first.length)} of 50 are offered it`);
  await pass(hours(1));
  t.match(await show(1), {
    state: 'running',
    percentage: 25,
    because: /devices? ha(?:s|ve) not reported a result yet/,
  });
  await call(pumps);
  await pass(minutes(5));
  t.match(await show(1), { state: 'running', percentage: 60 });
  await job.run();
  t.match(await show(1), { percentage: 60 }, 'and no second step without its own time');
  const second = await call(pumps);
  t.notOk(second.some((pump) => first.includes(pump)));
  t.ok(
    first.every(({ has }) => has === 2),
    'a step takes the revision from no device',
  );
  await pass(minutes(30));
  await call(pumps);
  t.match(await run('rollout show 1'), { out: /60 % +present +\d+ +\d+ +0 +0 +0 +0/ });
  await pass(minutes(35));
  t.match(await show(1), { state: 'done', percentage: 100 });
  t.match(await run('rollout list'), { out: /No rollout is under way/ });
  await call(pumps);
  t.ok(pumps.every(({ has }) => has === 2));
  t.match(await run('audit list --action raise_rollout --json'), { out: /"percentage":100/ });
});

t.test('too many devices that come back with the older revision pause a rollout', async (t) => {
  const { store, rollOut, show, call, pass, warnings, change, run } = await startRollouts(t);
  const pumps = await makePumps(store, 20);
  await rollOut(2, { ...quickPlan, notify: ['bob'] });
  const reached = await call(pumps);
  await pass(minutes(5));
  await call(reached);
  for (const pump of reached.slice(0, Math.ceil(reached.length / 2))) pump.has = 1;
  await call(reached, () => false);
  await pass(seconds(15));
  t.match(await show(1), { state: 'paused', because: /came back with the older revision/ });
  t.match(warnings, [{ rollout: 1, notify: ['bob'] }]);
  const others = pumps.filter((pump) => !reached.includes(pump));
  store.clock.advance(hours(1));
  t.equal((await call(others)).length, 0, 'no further device gets it');
  t.ok(
    reached.slice(Math.ceil(reached.length / 2)).every(({ has }) => has === 2),
    'the other devices keep it',
  );

  t.equal((await change(1, 'resume')).status, 200);
  await pass(minutes(5));
  t.match(await show(1), { state: 'running' }, 'earlier results do not count again');
  t.equal((await change(1, 'roll-back')).status, 200);
  t.match(await show(1), { state: 'rolled-back' });
  await call(pumps);
  t.ok(
    pumps.every(({ has }) => has === 1),
    'all devices get the older revision',
  );
  t.match(await run('rollout resume 1'), { code: 1, err: /has ended/ });
});

t.test('devices that fall silent pause a rollout, but not while the store was away', async (t) => {
  const { store, rollOut, show, call, pass, job } = await startRollouts(t);
  const pumps = await makePumps(store, 20);
  await rollOut(2, { ...quickPlan, 'silent-seconds': 2 * 3600 });
  await call(pumps, () => false);
  store.clock.advance(hours(30));
  await job.run();
  t.match(await show(1), { state: 'running', percentage: 50 }, 'no device could call in that time');
  await pass(hours(1));
  t.match(await show(1), { state: 'running', percentage: 50 }, 'the step has no result');
  await pass(hours(1) + minutes(5));
  t.match(await show(1), { state: 'paused', because: /fell silent/ });
});

t.test('reports that devices make up do not raise a rollout', async (t) => {
  const { store, rollOut, show, call, pass } = await startRollouts(t);
  const pumps = await makePumps(store, 30);
  await rollOut(2, { ...quickPlan, steps: [50, 100] });
  const liars = pumps.map((pump): Pump => ({ ...pump, has: 2 }));
  await call(liars);
  await call([{ ...pumps[0]!, headers: {}, serial: pumps.at(-1)!.serial }, ...liars]);
  const counts = async () => (await show(1)).steps[0] as { offered: number; took: number };
  t.match(await counts(), { offered: 0, took: 0 }, 'without an offer, and without a session, none counts');
  const offered = await call(pumps, () => false);
  await call([...offered, ...offered, pumps.at(-1)!], () => false);
  t.equal((await counts()).offered, offered.length, 'each serial counts once');
  await pass(hours(2));
  await call(pumps, () => false);
  await pass(minutes(5));
  t.match(await show(1), { state: 'paused', steps: [{ failed: offered.length }] });
});

t.test('a clock that jumps pauses a rollout, and a restored store has no results', async (t) => {
  const { store, rollOut, show, jump, job, change, pass } = await startRollouts(t);
  await rollOut(2, quickPlan);
  await job.run();
  for (const [milliseconds, text] of [
    [hours(2), 'forwards'],
    [-hours(1), 'backwards'],
  ] as const) {
    jump(milliseconds);
    await job.run();
    t.match(await show(1), { state: 'paused', percentage: 50, because: /clock of the store/ }, text);
    await change(1, 'resume');
    await pass(minutes(5));
    t.match(await show(1), { state: 'running' });
  }
  await store.beside.records.ephemeral(({ rollouts }) => rollouts.sweep('9999'));
  await job.run();
  t.match(await show(1), { state: 'paused', because: /restored from a backup/ });
});

t.test('another change of the channel ends a rollout', async (t) => {
  const { store, ada, rollOut, release, show, job, change, run } = await startRollouts(t);
  const ends = async (number: number, how: string, work: () => Promise<{ status: number }>) => {
    t.equal((await rollOut(2, quickPlan)).status, 200, how);
    t.match(await show(number), { state: 'running' });
    t.ok((await work()).status < 300, how);
    t.match(await show(number), { state: 'ended', because: /another change/ }, how);
    t.equal((await change(number, 'pause')).status, 409, how);
    t.same(await job.run(), { ended: 1 });
    t.match(await run(`rollout show ${String(number)}`), { out: /It is ended/ });
  };
  await ends(1, 'a full release', () => release(1));
  await ends(2, 'a release of another revision', () => release(3, { progressive: { percentage: 10 } }));
  await ends(3, 'the same revision at another percentage', () => release(2, { progressive: { percentage: 70 } }));
  await ends(4, 'a withdrawn revision', () =>
    ada.post('/internal/v1/packages/snap/hello/revisions/2/withdraw', { reason: 'It crashes.' }),
  );
  await ada.post('/internal/v1/packages/snap/hello/revisions/2/restore', undefined);
  await ends(5, 'a closed channel', () => release(null));
  t.equal((await rollOut(2, quickPlan)).status, 200);
  t.equal((await rollOut(2, quickPlan)).status, 200, 'the same plan again');
  t.match(await show(6), { state: 'running' }, 'continues');
  t.equal((await show(7)).status, undefined);
  const held = await store.beside.records.releases.held(
    (await store.beside.records.packages.find('snap', 'hello'))!.id,
  );
  t.match(held, [{ rollout: 6 }]);
});

// Transfers over running rollouts: an accepted transfer ends a rollout of its channels, and is not withdrawn below a later one.
import t from 'tap';

import { forging } from './ship-world.ts';

t.setTimeout(600_000);

const slot = { slot: 'amd64', architecture: 'amd64', 'released-at': '2026-01-01T00:00:00Z' };
const stable = (revision: number) => ({ ...slot, channel: 'latest/stable', revision });
const all = [1, 2, 3, 4].map((revision) => ({ ...slot, channel: `latest/edge/r${String(revision)}`, revision }));

t.test('a transfer that changes a channel ends its rollout, and is not withdrawn below a later rollout', async (t) => {
  const { store, run, done, send } = await forging(t);
  const releases = async () => {
    const { id } = (await store.beside.records.packages.find('snap', 'hello-on'))!;
    const held = await store.beside.records.releases.inChannel(id, 'latest/stable', new Date().toISOString());
    return held.map(({ revision, progressive }) => [revision, progressive.percentage]);
  };
  const roll = (revision: number) => done(`release snap/hello-on ${String(revision)} stable --steps 10%,100%`);
  const rollout = async (number: number) => (await done(`rollout show ${String(number)}`)).out;
  const ended = { state: 'ended', because: 'another change of the channel took its place' };

  await done(`transfer accept ${(await send([], [{ channels: [...all, stable(1)] }])).id} --yes`);
  await roll(3);
  t.same(await releases(), [
    [1, null],
    [3, 10],
  ]);
  const second = await send([], [{ channels: [stable(2)] }]);
  t.match(second.preview.lines, [{ what: 'latest/stable (amd64)', from: /^1, and 3 for 10 %, in steps/, to: '2' }]);
  await done(`transfer accept ${second.id} --yes`);
  t.same(await releases(), [[2, null]], 'the channel is as the preview said');
  t.match(await rollout(1), ended);

  await done(`transfer withdraw ${second.id} --yes`);
  t.same(await releases(), [
    [1, null],
    [3, 10],
  ]);
  t.match(await rollout(1), ended, 'a rollout that ended does not start again by itself');

  await done('release snap/hello-on 1 stable --progressive 100');
  const third = await send([], [{ channels: [stable(2)] }]);
  await done(`transfer accept ${third.id} --yes`);
  await roll(4);
  t.match(
    (await run(`transfer withdraw ${third.id} --yes`)).err,
    /latest\/stable has a progressive release of revision 4, which began after .*larder rollout roll-back 2/s,
  );
  t.same(await releases(), [
    [2, null],
    [4, 10],
  ]);
  t.match(await rollout(2), { state: 'running' });
  await done('rollout roll-back 2 --yes');
  await done(`transfer withdraw ${third.id} --yes`);
  t.same(await releases(), [[1, null]]);
});

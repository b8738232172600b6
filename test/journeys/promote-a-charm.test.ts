// From edge to stable: the tested revision of one channel is released to the next, with its resources, as charmcraft
// promotes.
import t from 'tap';

import { charm } from '#test/fixtures/packages/archives.ts';
import { charmcraft } from '#test/fixtures/clients/charmcraft.ts';
import { startStore } from '#test/fixtures/appliance.ts';

t.test('the revision of edge is promoted to stable, and edge moves on', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const hers = charmcraft(store, ada);
  await hers.register('hello');
  const declared = 'resources:\n  config: {type: file, filename: config.txt}\n';
  await hers.upload('hello', charm('hello', {}, declared));
  await hers.uploadResource('hello', 'config', 'first');
  await hers.release('hello', 1, ['edge'], [{ name: 'config', revision: 1 }]);
  const held = async () =>
    (await hers.status('hello'))['channel-map'].map(
      ({ channel, revision, resources }) => `${channel}=${revision} with ${resources[0]?.revision ?? 'none'}`,
    );
  t.same(await held(), ['latest/edge=1 with 1', 'latest/edge=1 with 1'], 'one entry for each of its bases');

  for (const [from, to] of [
    ['edge', 'beta'],
    ['latest/beta', 'latest/candidate'],
    ['candidate', 'stable'],
  ] as const) {
    t.match(await hers.promote('hello', from, to), { status: 200 }, `${from} to ${to}`);
  }
  await hers.upload('hello', charm('hello', { dispatch: 'second' }, declared));
  await hers.uploadResource('hello', 'config', 'second');
  await hers.release('hello', 2, ['edge'], [{ name: 'config', revision: 2 }]);
  t.same(
    [...new Set(await held())],
    ['latest/stable=1 with 1', 'latest/candidate=1 with 1', 'latest/beta=1 with 1', 'latest/edge=2 with 2'],
    'stable keeps what was tried, with the file that it was tried with',
  );

  // A token for edge alone promotes nothing.
  const narrow = charmcraft(store, await store.as('ada', { channels: ['edge'] }));
  t.match(await narrow.promote('hello', 'edge', 'stable'), {
    status: 401,
    body: { 'error-list': [{ code: 'permission-required', message: /'latest\/stable'/ }] },
  });
  t.match(await hers.promote('hello', 'edge', 'stable'), { status: 200 });
  t.same([...new Set(await held())].at(0), 'latest/stable=2 with 2');
});

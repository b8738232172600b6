import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';

const path = '/v1/auth/package-access';

t.test('each account learns about its own packages, in the order of the request', async (t) => {
  const store = await startStore(t);
  const [ada, bob, root] = [await store.as('ada'), await store.as('bob'), await store.as('root')];
  const ids: Record<string, string> = {};
  for (const [namespace, type] of [
    ['bin', 'bin'],
    ['charm', 'charm'],
    ['charm', 'bundle'],
    ['rock', 'rock'],
    ['snap', 'snap'],
    ['source', 'rockcraft'],
    ['source', 'snapcraft'],
    ['source', 'sourcecraft'],
  ]) {
    ids[type ?? ''] = (await ada.post(`/v1/${namespace}`, { name: `a-${type}`, type })).body.id;
  }
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'collaborate', object: 'snap' }, (tx) =>
    tx.collaborators.add(ids['snap'] ?? '', store.ids.bob, store.ids.ada, at),
  );
  const filters = ['sourcecraft', 'charm', 'charm-bundle', 'bin', 'rock', 'rockcraft', 'snap', 'snapcraft'].map(
    (type) => ({
      type,
      name: `a-${type === 'charm-bundle' ? 'bundle' : type}`,
    }),
  );
  const request = {
    filters: [...filters, ...filters, { type: 'charm', name: 'a-bundle' }, { type: 'snap', name: 'nothing' }],
  };
  const mine = await ada.post(path, request);
  t.match(mine, {
    status: 200,
    body: {
      authentication: {
        account: { id: store.ids.ada, email: 'ada@example.com' },
        channels: null,
        packages: null,
        permissions: null,
      },
    },
  });
  const entry = (permissions: string[]) => (filter: { type: string; name: string }) => ({
    ...filter,
    id: ids[filter.type === 'charm-bundle' ? 'bundle' : filter.type],
    permissions,
    'source-workflow': {},
  });
  t.same(mine.body.authorization.packages, filters.map(entry(['publisher'])));
  t.same((await bob.post(path, request)).body.authorization.packages, [
    entry(['package-collaborator'])({ type: 'snap', name: 'a-snap' }),
  ]);
  t.same((await root.post(path, request)).body.authorization.packages, filters.map(entry(['publisher'])));
  const viewing = await store.as('root', { permissions: ['store-view'] });
  t.same((await viewing.post(path, request)).body.authorization.packages, []);
  const narrow = await store.as('ada', {
    packages: [{ type: 'bin', name: 'a-bin' }],
    channels: ['edge'],
    permissions: ['package-view'],
  });
  t.match((await narrow.post(path, request)).body, {
    authentication: { channels: ['edge'], packages: [{ type: 'bin', name: 'a-bin' }], permissions: ['package-view'] },
    authorization: { packages: [{ name: 'a-bin' }] },
  });
  for (const filter of [{ type: 'sdk', name: 'x' }, { type: 'snap' }, { type: 'snap', name: 'x', id: 'y' }]) {
    t.match(await ada.post(path, { filters: [filter] }), { status: 400 });
  }
  t.match(await ada.post(path, { filters: [] }), { status: 400 });
});

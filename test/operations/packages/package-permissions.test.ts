import t from 'tap';

import { changeIn } from '#test/fixtures/records/behind.ts';
import { startStore, type Attenuated, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';

const path = '/internal/v1/package-permissions';

async function withSnaps(store: TestAppliance): Promise<{ open: string; hidden: string; charm: string }> {
  const ada = await store.as('ada');
  const [open, hidden, charm] = [
    await ada.post('/v1/snap', { name: 'open' }),
    await ada.post('/v1/snap', { name: 'hidden', private: true }),
    await ada.post('/v1/charm', { name: 'open' }),
  ];
  return { open: open.body.id, hidden: hidden.body.id, charm: charm.body.id };
}

const asker =
  (store: TestAppliance) =>
  async (person: string, ids: string[], attenuated: Attenuated = {}): Promise<unknown> => {
    const reply = await (
      await store.as(person, attenuated)
    ).post(path, { filters: ids.map((id) => ({ type: 'snap', id })) });
    if (reply.status !== 200) throw new Error(`cannot ask: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body.packages;
  };

const entry = (id: string, allowed: boolean) => ({ type: 'snap', id, 'allowed-by-revision': allowed });

t.test('each account sees its own download permissions', async (t) => {
  const store = await startStore(t);
  const { open, hidden } = await withSnaps(store);
  await store.join('carol');
  for (const id of [open, hidden]) await addCollaborator(store, id, 'carol');
  const ask = asker(store);
  for (const person of ['ada', 'carol', 'root']) {
    t.same(await ask(person, [open, hidden]), [entry(open, true), entry(hidden, true)], person);
  }
  t.same(await ask('bob', [open, hidden]), [entry(open, false)], 'a stranger sees what is not private');
});

t.test('the answer names the account, and goes by both addresses', async (t) => {
  const store = await startStore(t);
  const { open } = await withSnaps(store);
  const bob = await store.as('bob');
  const body = { filters: [{ type: 'snap', id: open }] };
  const reply = await bob.post(path, body);
  t.same(reply.body, {
    account: {
      'display-name': 'Bob',
      email: 'bob@example.com',
      id: store.ids.bob,
      username: 'bob',
      validation: 'unproven',
    },
    packages: [entry(open, false)],
  });
  t.same((await bob.post(`/publishergw${path}`, body)).body, reply.body);
});

t.test('entries come in the order of the request, each once; missing packages are left out', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const ids: string[] = [];
  for (let at = 0; at < 30; at++) ids.push((await ada.post('/v1/snap', { name: `snap-${at}` })).body.id);
  const { charm } = await withSnaps(store);
  const ask = asker(store);
  const shuffled = [...ids].sort().reverse();
  t.same(
    await ask('ada', shuffled),
    shuffled.map((id) => entry(id, true)),
  );
  const [first = '', second = ''] = ids;
  t.same(await ask('ada', [second, 'x', first, charm, second, first, store.ids.ada]), [
    entry(second, true),
    entry(first, true),
  ]);
  t.same(await ask('ada', ['nothing']), []);
});

t.test('no permission is needed, but the restriction to packages applies', async (t) => {
  const store = await startStore(t);
  const { open, hidden } = await withSnaps(store);
  const ask = asker(store);
  t.same(await ask('ada', [open, hidden], { permissions: [], channels: [] }), [entry(open, true), entry(hidden, true)]);
  t.same(await ask('ada', [open, hidden], { packages: [{ type: 'snap', name: 'hidden' }] }), [entry(hidden, true)]);
  t.same(await ask('ada', [open, hidden], { packages: [{ type: 'snap', id: open }] }), [entry(open, true)]);
  t.same(await ask('ada', [open, hidden], { packages: [{ type: 'charm', name: 'hidden' }] }), []);
  t.same(await ask('bob', [open, hidden], { packages: [] }), []);
  t.same(await ask('root', [open, hidden], { permissions: ['store-view'] }), [entry(open, true), entry(hidden, true)]);
  t.same(
    await ask('root', [open, hidden], { permissions: ['package-view'] }),
    [entry(open, false)],
    'an administrator acts as one when the token allows it',
  );
});

t.test('a change, here or by another process, shows at once', async (t) => {
  const store = await startStore(t);
  const { open, hidden } = await withSnaps(store);
  const ask = asker(store);
  const { records } = store.beside;
  const at = store.clock.now.toISOString();
  const bob = await store.as('bob');
  const listPermissions = async (): Promise<unknown> =>
    (await bob.post(path, { filters: [open, hidden].map((id) => ({ type: 'snap', id })) })).body.packages;
  for (let turn = 0; turn < 20; turn++) {
    t.same(await listPermissions(), [entry(open, false)]);
    await addCollaborator(store, hidden, 'bob');
    t.same(await listPermissions(), [entry(open, false), entry(hidden, true)]);
    changeIn(store.directory, 'DELETE FROM collaborators WHERE account_id = ?', store.ids.bob);
    t.same(await listPermissions(), [entry(open, false)]);
    await (await store.as('ada')).patch('/v1/snap/hidden', { private: false });
    t.same(await listPermissions(), [entry(open, false), entry(hidden, false)]);
    await (await store.as('ada')).patch('/v1/snap/hidden', { private: true });
  }
  await records.change({ at, actor: 'test', action: 'role', object: 'account/bob' }, (tx) =>
    tx.accounts.makeStoreAdministrator(store.ids.bob, at),
  );
  t.same(await listPermissions(), [entry(open, true), entry(hidden, true)]);
  await (await store.as('ada')).delete('/v1/snap/open');
  t.same(await listPermissions(), [entry(hidden, true)]);
  t.same(await ask('ada', [open, hidden]), [entry(hidden, true)]);
});

t.test('a body that is wrong is refused', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const filter = { type: 'snap', id: 'x' };
  for (const [body, pointer] of [
    [{}, '/'],
    [{ filters: [] }, '/filters'],
    [{ filters: {} }, '/filters'],
    [{ filters: [filter], more: 1 }, '/'],
    [{ filters: [{ type: 'snap' }] }, '/filters/0'],
    [{ filters: [{ id: 'x' }] }, '/filters/0'],
    [{ filters: [filter, { type: 'charm', id: 'x' }] }, '/filters/1/type'],
    [{ filters: [{ ...filter, name: 'x' }] }, '/filters/0'],
    [{ filters: [{ type: 'snap', id: 5 }] }, '/filters/0/id'],
    [{ filters: [{ type: 'snap', id: '' }] }, '/filters/0/id'],
    [{ filters: Array(1001).fill(filter) }, '/filters'],
  ] as const) {
    const reply = await ada.post(path, body);
    t.match(reply, {
      status: 400,
      body: { 'error-list': [{ code: 'api-error', message: new RegExp(` at ${pointer}$`) }] },
    });
  }
  t.match(await store.anyone.post(path, { filters: [filter] }), { status: 401 });
});

// The addresses that older publishing tools use to register and list names.
import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';

t.test('a snap is registered and listed', async (t) => {
  const store = await startStore(t, (text) => text.replace(/^(?:# ?)?reserved = .*$/m, 'reserved = ["core"]'));
  const ada = await store.as('ada');
  const register = (name: string) =>
    ada.post('/dev/api/register-name/', { snap_name: name, is_private: true, series: '16' });
  const { status, body } = await register('hello');
  t.equal(status, 201);
  t.match(body, { snap_id: /^[a-zA-Z0-9]{32}$/, snap_name: 'hello' });
  t.match((await ada.get('/v1/snap/hello')).body.metadata, {
    id: body.snap_id,
    private: true,
    tracks: [{ name: 'latest' }],
  });
  for (const prefix of ['', '/publishergw']) {
    t.match(await ada.get(`${prefix}/dev/api/account`), {
      status: 200,
      body: {
        account_id: store.ids.ada,
        email: 'ada@example.com',
        snaps: {
          '16': {
            hello: { since: store.clock.now.toISOString(), private: true, status: 'Approved', 'snap-id': body.snap_id },
          },
        },
      },
    });
  }
  for (const [name, code, answer] of [
    ['hello', 409, 'already-owned'],
    ['core', 409, 'reserved-name'],
    ['-x-', 400, 'api-error'],
  ] as const) {
    t.match(await register(name), { status: code, body: { error_list: [{ code: answer }] } });
  }
  t.match(await store.anyone.get('/dev/api/account'), {
    status: 401,
    body: { error_list: [{ code: 'macaroon-authorization-required' }] },
  });
});

t.test('every token shows its owner, and snaps show themselves to accounts with a permission for them', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  for (const [permissions, names] of [
    [null, ['hello']],
    [['account-view-packages'], ['hello']],
    [['package-manage-releases'], ['hello']],
    [['account-manage-keys'], []],
    [[], []],
  ] as const) {
    const { status, body } = await (
      await store.as('ada', permissions === null ? {} : { permissions: [...permissions] })
    ).get('/dev/api/account');
    t.equal(status, 200);
    t.same(Object.keys(body.snaps['16']), names, String(permissions));
    t.match(body, { id: store.ids.ada, account_id: store.ids.ada, 'account-keys': [], account_keys: [] });
  }
});

t.test('whoami of the older publishing tools', async (t) => {
  const store = await startStore(t);
  const narrow = await store.as('ada', { permissions: ['package-view'], channels: ['latest/edge'] });
  for (const prefix of ['', '/publishergw']) {
    const { status, body } = await narrow.get(`${prefix}/api/v2/tokens/whoami`);
    t.equal(status, 200);
    t.same(body.account, { email: 'ada@example.com', id: store.ids.ada, name: 'Ada', username: 'ada' });
    t.match(body, { permissions: ['package-view'], channels: ['latest/edge'], packages: null });
    t.equal(`${body.expires}Z`, new Date(Date.parse(`${body.expires}Z`)).toISOString(), 'they add the zone themselves');
    t.ok(Date.parse(`${body.expires}Z`) > store.clock.now.getTime());
  }
  t.match(await store.anyone.get('/api/v2/tokens/whoami'), {
    status: 401,
    body: { error_list: [{ code: 'macaroon-authorization-required' }] },
  });
});

t.test('the holder of a token for some snaps sees only those, own ones and those of collaborations', async (t) => {
  const store = await startStore(t);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  for (const name of ['hello', 'other']) await ada.post('/v1/snap', { name });
  const { id: shared } = (await bob.post('/v1/snap', { name: 'shared' })).body as { id: string };
  await addCollaborator(store, shared, 'ada');
  const seen = async (packages?: { type: 'snap'; name: string }[]): Promise<string[]> => {
    const { body } = await (await store.as('ada', packages && { packages })).get('/dev/api/account');
    return Object.keys((body as { snaps: { '16': object } }).snaps['16']);
  };
  t.same(await seen(), ['hello', 'other', 'shared']);
  t.same(await seen([{ type: 'snap', name: 'other' }]), ['other']);
  t.same(await seen([{ type: 'snap', name: 'shared' }]), ['shared']);
});

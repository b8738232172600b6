// Two people who come to work on one package.

import t from 'tap';

import { days } from '#domain/clock.ts';
import { bytesOf } from '#test/fixtures/records/behind.ts';
import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';

const invites = '/v1/snap/hello/collaborators/invites';

async function withPackage(
  t: Parameters<typeof startStore>[0],
): Promise<{ store: TestAppliance; ada: Client; bob: Client }> {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  return { store, ada, bob: await store.as('bob') };
}

const invite = async (ada: Client, email = 'bob@example.com'): Promise<string> =>
  (await ada.post(invites, { invites: [{ email }] })).body.tokens[0].token;

const refused = (code: string, status: number) => ({ status, body: { 'error-list': [{ code }] } });

t.test('an account that accepts an invite is a collaborator', async (t) => {
  const { store, ada, bob } = await withPackage(t);
  const at = store.clock.now.toISOString();
  const expires = new Date(store.clock.now.getTime() + days(7)).toISOString();
  const sent = await ada.post(invites, { invites: [{ email: 'Bob@example.com' }] });
  t.match(sent, { status: 201, body: { tokens: [{ email: 'Bob@example.com', token: /^[a-zA-Z0-9]{32}$/ }] } });
  const [{ token }] = sent.body.tokens;
  t.notOk(bytesOf(store.directory).includes(token), 'the records do not hold the token');
  t.same((await ada.get(`${invites}/pending`)).body, {
    invites: [{ created_at: at, created_by: store.ids.ada, email: 'bob@example.com', expires_at: expires }],
  });
  t.match(await bob.get('/v1/snap/hello'), refused('resource-not-found', 404));

  store.clock.advance(1000);
  const accepted = await bob.post(`${invites}/accept`, { token: `${token}\n` });
  t.match(accepted, { status: 204, body: '' });
  t.match(await bob.get('/v1/snap/hello'), { status: 200 });
  const list = (await bob.get('/v1/snap/hello/collaborators')).body;
  t.match(list, {
    publisher: { id: store.ids.ada },
    collaborators: [
      {
        account: { id: store.ids.bob, username: 'bob' },
        'created-at': store.clock.now.toISOString(),
        'created-by': { id: store.ids.ada },
        permissions: ['package-collaborator'],
        'updated-at': null,
      },
    ],
  });
  t.match((await ada.get(invites)).body.invites, [
    {
      email: 'bob@example.com',
      'invite-type': 'package-collaborator',
      'accepted-at': store.clock.now.toISOString(),
      'accepted-by': { id: store.ids.bob },
      'created-by': { id: store.ids.ada },
      'revoked-at': null,
      'expires-at': expires,
    },
  ]);
  t.same((await ada.get(`${invites}/pending`)).body.invites, []);
  t.match(await ada.post(invites, { invites: [{ email: 'bob@example.com' }] }), refused('conflict', 409));
  t.match(
    await bob.post(`${invites}/accept`, { token }),
    refused('invalid-token', 400),
    'a second time it is worth nothing',
  );
  t.match(await bob.post(`${invites}/reject`, { token }), refused('invalid-token', 400));
  t.match(await bob.post(invites, { invites: [{ email: 'root@example.com' }] }), {
    status: 401,
    body: { 'error-list': [{ code: 'permission-required', message: /^Only the publisher of 'hello'/ }] },
  });
});

t.test('an account that rejects an invite ends it', async (t) => {
  const { store, ada, bob } = await withPackage(t);
  const token = await invite(ada);
  t.match(await bob.post(`${invites}/reject`, { token }), { status: 204, body: '' });
  t.match((await ada.get(invites)).body.invites, [
    { 'accepted-at': null, 'revoked-at': store.clock.now.toISOString(), 'revoked-by': { id: store.ids.bob } },
  ]);
  t.match(await bob.post(`${invites}/accept`, { token }), refused('invalid-token', 400));
  t.match(await bob.get('/v1/snap/hello'), refused('resource-not-found', 404));
});

t.test('an invite is worth nothing to others, for other packages, when revoked, replaced or too old', async (t) => {
  const { store, ada, bob } = await withPackage(t);
  await ada.post('/v1/snap', { name: 'other' });
  await ada.post('/v1/charm', { name: 'hello' });
  const root = await store.as('root');
  const first = await invite(ada);
  const nothing = refused('invalid-token', 400);
  for (const who of [ada, root]) t.match(await who.post(`${invites}/accept`, { token: first }), nothing);
  for (const path of ['snap/other', 'charm/hello', 'snap/nothing']) {
    t.match(await bob.post(`/v1/${path}/collaborators/invites/accept`, { token: first }), nothing, path);
  }
  t.match(await bob.post(`${invites}/accept`, { token: 'nonsense' }), nothing);

  const second = await invite(ada);
  t.match(await bob.post(`${invites}/accept`, { token: first }), nothing, 'replaced');
  t.equal((await ada.get(invites)).body.invites.length, 1);
  const revoke = { invites: [{ email: 'bob@example.com' }, { email: 'nobody@example.com' }] };
  t.match(await ada.post(`${invites}/revoke`, revoke), { status: 204, body: '' });
  t.match(await bob.post(`${invites}/accept`, { token: second }), nothing, 'revoked');
  t.match((await ada.get(invites)).body.invites, [{ 'revoked-by': { id: store.ids.ada } }]);
  t.match(await ada.post(`${invites}/revoke`, revoke), { status: 204 }, 'nothing to revoke is no fault');

  const third = await invite(ada);
  store.clock.advance(days(7) - 1);
  t.equal((await ada.get(`${invites}/pending`)).body.invites.length, 1);
  store.clock.advance(1);
  t.match(await bob.post(`${invites}/accept`, { token: third }), nothing, 'expired');
  t.same((await ada.get(`${invites}/pending`)).body.invites, []);
  t.same((await ada.get('/v1/snap/hello/collaborators')).body.collaborators, []);
});

t.test('an account that cannot be invited makes the whole request fail', async (t) => {
  const { ada } = await withPackage(t);
  for (const [emails, code, status] of [
    [['bob@example.com', 'nobody@example.com'], 'account-not-found', 400],
    [['bob@example.com', 'ada@example.com'], 'conflict', 409],
    [['bob@example.com', 'BOB@example.com'], 'api-error', 400],
    [[], 'api-error', 400],
  ] as const) {
    t.match(await ada.post(invites, { invites: emails.map((email) => ({ email })) }), refused(code, status));
  }
  t.same((await ada.get(invites)).body.invites, []);
});

t.test('a token for other packages accepts no invite to this one', async (t) => {
  const { store, ada } = await withPackage(t);
  const token = await invite(ada);
  const narrow = await store.as('bob', { packages: [{ type: 'snap', name: 'other' }] });
  t.match(await narrow.post(`${invites}/accept`, { token }), refused('permission-required', 401));
  const good = await store.as('bob', { packages: [{ type: 'snap', name: 'hello' }], permissions: [] });
  t.match(await good.post(`${invites}/accept`, { token }), { status: 204 });
});

t.test('the invited account finds the invite, and answers it without its token', async (t) => {
  const store = await startStore(t);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  for (const name of ['hello', 'other']) {
    await ada.post('/v1/bin', { name });
    await ada.post(`/v1/bin/${name}/collaborators/invites`, { invites: [{ email: 'bob@example.com' }] });
  }
  const listed = (await bob.get('/internal/v1/invites')).body;
  t.match(listed, { invites: [{ namespace: 'bin', from: { username: 'ada' } }, {}], 'next-cursor': null });
  t.match((await ada.get('/internal/v1/invites')).body, { invites: [] });
  const narrowed = await store.as('bob', { packages: [{ type: 'bin', name: 'other' }] });
  t.equal((await narrowed.get('/internal/v1/invites')).body.invites.length, 1);

  const answer = (client: typeof bob, name: string, accept: boolean) =>
    client.post(`/internal/v1/packages/bin/${name}/invite/answer`, { accept });
  const none = { status: 400, body: { 'error-list': [{ code: 'invalid-token' }] } };
  t.match(await answer(ada, 'hello', true), none, 'an invite is for one account');
  t.equal((await answer(bob, 'hello', true)).status, 204);
  t.match(await answer(bob, 'hello', true), none, 'once');
  t.equal((await answer(bob, 'other', false)).status, 204);
  t.match(await answer(bob, 'other', true), none);
  t.match((await bob.get('/internal/v1/invites')).body, { invites: [] });
  t.match((await ada.get('/v1/bin/hello/collaborators')).body.collaborators, [{ account: { username: 'bob' } }]);
  t.strictSame((await ada.get('/v1/bin/other/collaborators')).body.collaborators, []);
});

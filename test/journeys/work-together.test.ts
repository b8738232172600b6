// Two people on one charm: the publisher invites, the other accepts, pushes and releases, and cannot give the name away.
import t from 'tap';

import { charm } from '#test/fixtures/packages/archives.ts';
import { charmcraft } from '#test/fixtures/clients/charmcraft.ts';
import { startStore, type Client } from '#test/fixtures/appliance.ts';

const invites = '/publishergw/v1/charm/hello/collaborators/invites';

t.test('two people work on one charm', async (t) => {
  const store = await startStore(t);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  const [hers, his] = [charmcraft(store, ada), charmcraft(store, bob)];
  await hers.register('hello');
  await hers.upload('hello', charm('hello'));

  // To bob the charm does not exist, and an account can invite neither itself nor a stranger to the store.
  t.match(await bob.get('/publishergw/v1/charm/hello'), { status: 404 });
  const invite = (client: Client, email: string) => client.post(invites, { invites: [{ email }] });
  t.match(await invite(bob, 'bob@example.com'), { status: 404 });
  t.match(await invite(ada, 'ada@example.com'), { status: 409, body: { 'error-list': [{ code: 'conflict' }] } });
  t.match(await invite(ada, 'carol@example.com'), {
    status: 400,
    body: { 'error-list': [{ code: 'account-not-found' }] },
  });

  // ada invites bob and gives the token to bob; the list shows the invite as pending, to accounts that may see it.
  const sent = await invite(ada, 'bob@example.com');
  t.match(sent, { status: 201, body: { tokens: [{ email: 'bob@example.com', token: /^\w{32}$/ }] } });
  const [{ token }] = sent.body.tokens as [{ token: string }];
  t.match((await ada.get(`${invites}/pending`)).body.invites, [
    { email: 'bob@example.com', created_by: store.ids.ada, created_at: /Z$/, expires_at: /Z$/ },
  ]);
  t.same(await his.names(true), []);

  // The token is for bob: ada cannot use it, and bob can use it once, even in concurrent tries.
  t.match(await ada.post(`${invites}/accept`, { token }), {
    status: 400,
    body: { 'error-list': [{ code: 'invalid-token', message: 'Invalid invite token' }] },
  });
  const tries = await Promise.all([1, 2, 3, 4].map(() => bob.post(`${invites}/accept`, { token })));
  t.same(tries.map(({ status }) => status).sort(), [204, 400, 400, 400]);
  t.same(await his.names(true), [{ name: 'hello', status: 'registered', publisher: store.ids.ada }]);
  t.same(await his.names(), []);
  t.match((await bob.get('/publishergw/v1/charm/hello/collaborators')).body, {
    publisher: { id: store.ids.ada, 'display-name': 'Ada' },
    collaborators: [
      {
        account: { id: store.ids.bob, username: 'bob' },
        'created-by': { id: store.ids.ada },
        permissions: ['package-collaborator'],
        'updated-at': null,
      },
    ],
  });

  // They work on it in turn: bob pushes and releases, ada promotes.
  t.equal(await his.upload('hello', charm('hello', { dispatch: 'by bob' })), 2);
  t.match(await his.release('hello', 2, ['edge']), { status: 200 });
  t.match(await hers.promote('hello', 'edge', 'stable'), { status: 200 });
  t.same(
    [...new Set((await his.status('hello'))['channel-map'].map(({ channel, revision }) => `${channel}=${revision}`))],
    ['latest/stable=2', 'latest/edge=2'],
  );
  t.match(await bob.patch('/publishergw/v1/charm/hello', { summary: 'Says hello' }), { status: 200 });

  // The rights of the publisher alone stay with ada.
  await store.join('carol');
  t.match(await invite(bob, 'carol@example.com'), {
    status: 401,
    body: { 'error-list': [{ message: /^Only the publisher of 'hello'/ }] },
  });
  t.match(await bob.post(`${invites}/revoke`, { invites: [{ email: 'carol@example.com' }] }), { status: 401 });
  t.match(await his.unregister('hello'), {
    status: 401,
    body: {
      'error-list': [{ code: 'permission-required', message: 'Charms can only be unregistered by their publisher' }],
    },
  });

  // Carol says no to one invite, and another is taken back; ada sees what became of each.
  const carol = await store.as('carol');
  const first = (await invite(ada, 'carol@example.com')).body.tokens[0].token as string;
  t.match(await carol.post(`${invites}/reject`, { token: first }), { status: 204, body: '' });
  store.clock.advance(1000);
  const second = (await invite(ada, 'carol@example.com')).body.tokens[0].token as string;
  const revoke = { invites: [{ email: 'carol@example.com' }] };
  t.match(await ada.post(`${invites}/revoke`, revoke), { status: 204, body: '' });
  t.match(await carol.post(`${invites}/accept`, { token: second }), { status: 400 });
  t.match((await ada.get(invites)).body.invites, [
    { email: 'carol@example.com', 'accepted-at': null, 'revoked-by': { id: store.ids.ada } },
    { email: 'carol@example.com', 'accepted-at': null, 'revoked-by': { id: store.ids['carol'] } },
    { email: 'bob@example.com', 'accepted-at': /Z$/, 'accepted-by': { id: store.ids.bob }, 'revoked-at': null },
  ]);
  t.match(await carol.get('/publishergw/v1/charm/hello'), { status: 404 });
});

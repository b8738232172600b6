// Changing the names and addresses of an account, and listing its belongings: by operation and by command.
import t from 'tap';

import { command, newest, startNow } from '#test/acts/ways.ts';
import { startStore } from '#test/fixtures/appliance.ts';

t.test('an operation and a command change the same of an account', async (t) => {
  const store = await startNow(t);
  const root = await store.as('root');
  const { id } = (await (await store.as('ada')).get('/v1/tokens/whoami')).body.account as { id: string };
  const path = `/internal/v1/accounts/${id}`;
  const after = async (doIt: () => Promise<unknown>) => {
    await root.patch(path, {
      username: 'ada',
      'display-name': 'Ada',
      email: 'ada@example.com',
      validation: 'unproven',
    });
    await doIt();
    return { entry: await newest(store), account: await store.beside.records.accounts.find(id) };
  };
  for (const [body, line] of [
    [{ email: 'Ada.King@Example.org ' }, "--email 'Ada.King@Example.org '"],
    [{ 'display-name': ' Ada King ' }, "--display-name ' Ada King '"],
    [{ username: 'lady.ada' }, '--username lady.ada'],
    [
      { validation: 'verified', email: 'a@example.org', username: 'ada.k' },
      '--validation verified --email a@example.org --username ada.k',
    ],
  ] as const) {
    const first = await after(() => root.patch(path, body));
    const other = await after(() => command(store, `account change ${id} ${line}`));
    t.same(other, first, line);
    t.match(first.entry, { action: 'update_account', object: `account/${id}`, outcome: 'done' }, line);
  }
  t.match((await newest(store))?.details, { 'user name': { from: 'ada', to: 'ada.k' } });
  t.match(await store.beside.records.accounts.find(id), { username: 'ada.k', email: 'a@example.org' });
  t.match((await (await store.as('ada')).get('/v1/tokens/whoami')).body.account, { validation: 'verified' });
});

t.test('a wrong or taken value is refused, in the same words, and changes nothing', async (t) => {
  const store = await startStore(t);
  const root = await store.as('root');
  const { ada, bob } = store.ids;
  const path = `/internal/v1/accounts/${ada}`;
  const head = async () => (await store.beside.records.audit.head())?.seq;
  const others = [await store.as('ada'), await store.as('root', { permissions: ['store-view'] })];
  const before = await head();
  const storedAccount = await store.beside.records.accounts.find(ada);
  for (const body of [
    {},
    { username: '' },
    { username: 'Ada' },
    { username: 'a'.repeat(65) },
    { 'display-name': '' },
    { 'display-name': ' ' },
    { 'display-name': 'x\ny' },
    { 'display-name': 'x'.repeat(129) },
    { email: 'ada' },
    { email: `${'a'.repeat(320)}@example.org` },
    { validation: 'starry' },
    { validation: null },
    { id: 'other' },
    { username: 7 },
    [],
  ]) {
    t.match(await root.patch(path, body), { status: 400 }, JSON.stringify(body).slice(0, 60));
  }
  const taken = { status: 409, body: { 'error-list': [{ code: 'conflict' }] } };
  t.match(await root.patch(path, { username: 'bob' }), taken);
  t.match(await root.patch(path, { email: 'BOB@example.com' }), taken);
  t.match(await root.patch('/internal/v1/accounts/nobody', { username: 'x' }), { status: 404 });
  for (const client of others) {
    t.match(await client.patch(path, { validation: 'starred' }), { status: 401 }, 'nobody else');
  }
  const { error, code } = await command(store, `account change ${ada} --username bob`);
  t.same({ error, code }, { error: "The user name 'bob' is taken.", code: 'conflict' });
  t.match(await command(store, `account change ${ada}`), { error: /takes --email, --username/ });
  t.equal(await head(), before);
  t.same(await store.beside.records.accounts.find(ada), storedAccount);

  const two = await Promise.all([
    root.patch(path, { username: 'the-name' }),
    root.patch(`/internal/v1/accounts/${bob}`, { username: 'the-name' }),
  ]);
  t.same(two.map(({ status }) => status).sort(), [200, 409], 'of two who want a name one gets it');
});

t.test('a released user name is reserved for its former owner', async (t) => {
  const store = await startStore(t);
  const root = await store.as('root');
  const { ada, bob } = store.ids;
  const rename = (id: string, username: string) => root.patch(`/internal/v1/accounts/${id}`, { username });
  t.match(await rename(ada, 'ada.king'), { status: 200, body: { username: 'ada.king' } });
  t.match(await rename(bob, 'ada'), { status: 409 });
  t.match(
    await command(store, "account create --email eve@example.org --username ada --display-name 'Eve'"),
    { code: 'conflict', error: "The user name 'ada' is taken." },
    'a new account gets it neither',
  );
  t.match(await rename(ada, 'ada'), { status: 200 }, 'she may have it back');
  t.match(await rename(bob, 'ada.king'), { status: 409 });
});

t.test('each account changes its own display name, and nothing else', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  t.match(await ada.patch('/internal/v1/account', { 'display-name': ' Ada King' }), {
    status: 200,
    body: { id: store.ids.ada, 'display-name': 'Ada King', username: 'ada' },
  });
  t.match(await newest(store), { action: 'update_own_account', object: `account/${store.ids.ada}` });
  for (const body of [
    {},
    { email: 'x@example.org' },
    { 'display-name': ' ' },
    { 'display-name': 'x', username: 'y' },
  ]) {
    t.match(await ada.patch('/internal/v1/account', body), { status: 400 }, JSON.stringify(body));
  }
  const narrowed = await store.as('ada', { permissions: ['package-view'] });
  t.match(await narrowed.patch('/internal/v1/account', { 'display-name': 'x' }), { status: 401 });
  t.match(await store.anyone.patch('/internal/v1/account', { 'display-name': 'x' }), { status: 401 });
});

t.test('the belongings of an account are listed by operation and by command', async (t) => {
  const store = await startNow(t);
  const [root, ada] = [await store.as('root'), await store.as('ada')];
  await ada.post('/v1/bin', { name: 'hello' });
  await ada.post('/v1/bin/hello/collaborators/invites', { invites: [{ email: 'bob@example.com' }] });
  await command(store, `account invite ${store.ids.ada}`);
  await command(store, `account role ${store.ids.ada} store-admin`);
  const nothing = { tokens: 0, agents: 0, 'push-credentials': 0, 'set-up-links': 0 };
  const reply = await root.get(`/internal/v1/accounts/${store.ids.ada}/holdings`);
  t.match(reply, {
    status: 200,
    body: {
      username: 'ada',
      roles: ['store-admin'],
      ends: { ...nothing, tokens: 1, 'set-up-links': 1 },
      stays: { packages: 1, collaborations: 0, invites: 0, brands: 0 },
    },
  });
  t.same(await command(store, `account holdings ${store.ids.ada}`), reply.body);
  t.match((await root.get(`/internal/v1/accounts/${store.ids.bob}/holdings`)).body, {
    ends: nothing,
    stays: { invites: 1 },
  });
  t.match(await root.get('/internal/v1/accounts/nobody/holdings'), { status: 404 });
  t.match(await (await store.as('bob')).get(`/internal/v1/accounts/${store.ids.bob}/holdings`), { status: 401 });
});

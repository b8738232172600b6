import t from 'tap';

import { withFirstPartyCaveat } from '#macaroons/codec/macaroon.ts';
import { readToken, writeToken } from '#macaroons/codec/text.ts';
import { startStore } from '#test/fixtures/appliance.ts';

t.test('a token shows its owner, and that it is not restricted', async (t) => {
  const store = await startStore(t);
  const reply = await (await store.as('ada')).get('/v1/tokens/whoami');
  t.equal(reply.status, 200);
  t.same(reply.body, {
    account: {
      'display-name': 'Ada',
      email: 'ada@example.com',
      id: store.ids.ada,
      username: 'ada',
      validation: 'unproven',
    },
    channels: null,
    packages: null,
    permissions: null,
  });
});

t.test('a token shows its restrictions', async (t) => {
  const store = await startStore(t);
  const packages = [
    { type: 'snap' as const, name: 'hello' },
    { type: 'charm' as const, id: 'x'.repeat(32) },
  ];
  const narrow = await store.as('ada', {
    permissions: ['package-view', 'package-manage'],
    channels: ['edge', '*/beta'],
    packages,
  });
  t.match((await narrow.get('/v1/tokens/whoami')).body, {
    channels: ['edge', '*/beta'],
    packages,
    permissions: ['package-view', 'package-manage'],
  });
  const none = await store.as('ada', { permissions: [], channels: [], packages: [] });
  t.same(
    (({ channels, packages: selectors, permissions }) => ({ channels, packages: selectors, permissions }))(
      (await none.get('/v1/tokens/whoami')).body,
    ),
    {
      channels: [],
      packages: [],
      permissions: [],
    },
  );
});

t.test('the header is written in many ways', async (t) => {
  const store = await startStore(t);
  const { token } = await store.as('ada');
  const macaroon = readToken(token);
  if (macaroon === undefined) throw new Error('cannot read the token');
  const binary = Buffer.from(token, 'base64url');
  const json = JSON.stringify([token]);
  for (const headers of [
    { authorization: `Macaroon ${token}` },
    { authorization: `macaroon ${token}` },
    { authorization: `MACAROON   ${token}  ` },
    { authorization: `Bearer ${token}` },
    { authorization: `bearer ${token}` },
    { authorization: `Macaroon ${binary.toString('base64')}` },
    { authorization: `Macaroon ${writeToken(macaroon, 1)}` },
    { macaroons: Buffer.from(json).toString('base64') },
    { macaroons: Buffer.from(json).toString('base64url') },
    { macaroons: Buffer.from(json).toString('base64').replace(/=+$/, '') },
  ]) {
    const reply = await store.anyone.get('/v1/tokens/whoami', headers);
    t.match(reply, { status: 200, body: { account: { username: 'ada' } } }, JSON.stringify(headers).slice(0, 40));
  }
  for (const authorization of [
    '',
    'Macaroon',
    'Macaroon ',
    `Basic ${token}`,
    token,
    `Macaroon root=${token}`,
    `Macaroon ${token} ${token}`,
    `Macaroon ${token},`,
  ]) {
    const reply = await store.anyone.get('/v1/tokens/whoami', { authorization });
    t.match(reply, { status: 401, body: { Code: 'macaroon discharge required' } }, authorization.slice(0, 20));
  }
});

t.test('a token may be large', async (t) => {
  const store = await startStore(t);
  const packages = [...Array(400).keys()].map((at) => ({
    type: 'snap' as const,
    name: `a-package-with-a-long-name-${at}`,
  }));
  const ada = await store.as('ada', { packages });
  t.ok(ada.token.length > 20_000, `${ada.token.length} characters`);
  t.equal((await ada.get('/v1/tokens/whoami')).body.packages.length, 400);
});

t.test('a caveat that the holder adds narrows the token, and is shown', async (t) => {
  const store = await startStore(t);
  const whole = readToken((await store.as('ada', { permissions: ['package-view', 'account-view-packages'] })).token);
  if (whole === undefined) throw new Error('cannot read the token');
  const with_ = (...caveats: string[]) => store.with(writeToken(caveats.reduce(withFirstPartyCaveat, whole)));
  const whoami = async (...caveats: string[]) => (await with_(...caveats).get('/v1/tokens/whoami')).body;
  t.same((await whoami('permissions ["package-view-acl"]')).permissions, ['package-view-acl']);
  t.same(
    (await whoami('permissions ["store-manage","package-view"]')).permissions,
    ['package-view'],
    'never more than before',
  );
  t.same((await whoami('permissions []')).permissions, []);
  t.same((await whoami('channels ["edge","beta"]', 'channels ["beta"]')).channels, ['beta']);
  t.same((await whoami('packages [{"type":"snap","name":"a"}]', 'packages [{"type":"snap","name":"b"}]')).packages, []);
  t.equal((await with_('time-before 2026-03-01T12:00:01Z').get('/v1/tokens/whoami')).status, 200);
  for (const caveat of [
    'time-before 2026-03-01T12:00:00Z',
    'time-since 2026-03-01T12:00:01Z',
    'time-before soon',
    'time-before 2026-03-01T13:00:00',
    'session-id 00000000-0000-0000-0000-000000000000',
    'permissions ["everything"]',
    'permissions null',
    'permissions {}',
    'permissions',
    'permissions  []',
    'Permissions []',
    'channels ["not a channel"]',
    'packages [{"type":"snap","colour":"red"}]',
    'declared username root',
    'unknown 1',
    'x',
    ' permissions []',
  ]) {
    t.match(await with_(caveat).get('/v1/tokens/whoami'), { status: 401 }, caveat);
  }
});

t.test('a token is as good after a restart', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  t.equal((await ada.get('/v1/tokens/whoami')).status, 200);
  await store.restart();
  t.equal((await ada.get('/v1/tokens/whoami')).status, 200, 'it is good after a restart');
  t.equal((await ada.get('/publishergw/v1/tokens/whoami')).status, 200);
});

import t from 'tap';

import { startStore, type Attenuated, type Client, type Reply } from '#test/fixtures/appliance.ts';

interface Shown {
  description: string | null;
  'revoked-at': string | null;
  'revoked-by': string | null;
  'session-id': string;
  'valid-since': string;
  'valid-until': string;
}
const shown = ({ body }: Reply): Shown[] => body.macaroons as Shown[];

t.test('an account lists its macaroons', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await store.as('bob');
  store.clock.advance(1000);
  await store.as('ada', { ttl: 60 });
  const reply = await ada.get('/v1/tokens');
  t.equal(reply.status, 200);
  t.same(Object.keys(reply.body), ['macaroons']);
  const list = shown(reply);
  t.equal(list.length, 2);
  t.match(list, [
    {
      description: null,
      'revoked-at': null,
      'revoked-by': null,
      'session-id': /^[0-9a-f-]{36}$/,
      'valid-since': '2026-03-01T12:00:00.000Z',
      'valid-until': '2027-03-01T12:00:00.000Z',
    },
    { 'valid-since': '2026-03-01T12:00:01.000Z', 'valid-until': '2026-03-01T12:01:01.000Z' },
  ]);
  t.notMatch(JSON.stringify(reply.body), ada.token, 'the token itself is not kept');
});

t.test('inactive ones, revoked or expired, are listed on request', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await store.as('ada', { ttl: 10 });
  const [, revoked] = [await store.as('ada', { ttl: 20 }), await store.as('ada', { ttl: 30 })];
  t.equal((await revoked.get('/v1/tokens/whoami')).status, 200);
  const third = shown(await ada.get('/v1/tokens')).find((token) => token['valid-until'] === '2026-03-01T12:00:30.000Z');
  await ada.post('/v1/tokens/revoke', { 'session-id': third?.['session-id'] });
  store.clock.advance(10_000);
  const ends = async (query: string): Promise<string[]> =>
    shown(await ada.get(`/v1/tokens${query}`))
      .map((token) => token['valid-until'].slice(0, 19))
      .sort();
  const active = ['2026-03-01T12:00:20', '2027-03-01T12:00:00'];
  t.same(await ends(''), active);
  t.same(await ends('?include-inactive=false'), active);
  for (const query of ['?include-inactive=true', '?include-inactive=', '?include-inactive=1', '?include-inactive']) {
    t.same(
      await ends(query),
      ['2026-03-01T12:00:10', '2026-03-01T12:00:20', '2026-03-01T12:00:30', '2027-03-01T12:00:00'],
      query,
    );
  }
});

t.test('a narrowed token sees itself alone, unless it may manage the account', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada', { ttl: 20 });
  const seen = async (client: Client): Promise<number> => shown(await client.get('/v1/tokens?include-inactive')).length;
  const narrowed: Attenuated[] = [
    { permissions: [] },
    { permissions: ['account-manage-keys', 'package-manage', 'store-manage'] },
    { channels: ['edge'] },
    { packages: [{ type: 'snap', name: 'hello' }] },
    { permissions: ['account-manage-metadata'], channels: ['edge'] },
    { permissions: ['account-manage-metadata'], packages: [{ type: 'snap', name: 'hello' }] },
    { permissions: [], channels: [], packages: [] },
  ];
  for (const [at, attenuated] of narrowed.entries()) {
    const ttl = 1000 + at;
    const list = shown(await (await store.as('ada', { ...attenuated, ttl })).get('/v1/tokens?include-inactive'));
    t.equal(list.length, 1, JSON.stringify(attenuated));
    const life = Date.parse(list[0]?.['valid-until'] ?? '') - store.clock.now.getTime();
    t.equal(life, ttl * 1000, 'which is itself');
  }
  t.equal(await seen(ada), 8);
  t.equal(await seen(await store.as('ada', { permissions: ['account-manage-metadata'] })), 9);
});

t.test('a header that fails is refused, never answered with a fresh macaroon', async (t) => {
  const store = await startStore(t);
  for (const token of ['nonsense', (await store.as('ada', { ttl: 10 })).token.slice(0, -3)]) {
    t.match(await store.with(token).get('/v1/tokens'), {
      status: 401,
      body: { 'error-list': [{ code: 'macaroon-authorization-required' }], Code: 'macaroon discharge required' },
    });
  }
  const expired = await store.as('ada', { ttl: 10 });
  store.clock.advance(10_000);
  t.match(await expired.get('/v1/tokens'), { status: 401 });
});

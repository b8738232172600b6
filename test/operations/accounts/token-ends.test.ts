// When tokens were last used, when they end, and another one in a token's place.
import t from 'tap';

import { days, hours, minutes, seconds } from '#domain/clock.ts';
import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import { larder } from '#test/cli/world.ts';
import { until } from '#test/fixtures/until.ts';
import { command, newest, startNow } from '#test/acts/ways.ts';

const whoami = (client: Client) => client.get('/v1/tokens/whoami');

interface Listed {
  username: string;
  'session-id': string;
  'valid-until': string;
  'last-used-at': string | null;
}

async function listed(store: TestAppliance, query: string): Promise<Listed[]> {
  return (await (await store.as('root')).get(`/internal/v1/tokens?${query}`)).body.tokens as Listed[];
}

/** The session of the newest token of a client's account. */
const sessionOf = async (client: Client): Promise<string> =>
  ((await client.get('/v1/tokens')).body.macaroons as Listed[]).at(-1)?.['session-id'] ?? '';

t.test('a use is noted to the minute, in no audit log, and with at most one write a minute', async (t) => {
  const store = await startStore(t);
  const { records } = store.beside;
  const [client, root] = [await store.as('ada'), await store.as('root')];
  const session = await sessionOf(client);
  const unused = async () =>
    ((await root.get(`/internal/v1/tokens?account=${store.ids.bob}`)).body.tokens as Listed[])[0]?.['last-used-at'];
  await store.as('bob');
  t.equal(await unused(), null, 'nothing is said of one that nobody has used');
  const count = async () => (await records.counters.find('token', session))?.count;
  const lastUsed = async () =>
    ((await root.get(`/internal/v1/tokens?account=${store.ids.ada}`)).body.tokens as Listed[]).find(
      (token) => token['session-id'] === session,
    )?.['last-used-at'];
  const minute = () => new Date(Math.floor(store.clock.now.getTime() / minutes(1)) * minutes(1)).toISOString();
  await until(async () => (await lastUsed()) === minute());

  const head = (await records.audit.head())?.seq;
  store.clock.advance(minutes(3) + seconds(20));
  for (let each = 0; each < 5; each++) await whoami(client);
  await until(async () => (await lastUsed()) === minute());
  t.equal(await count(), 2, 'five uses within a minute are one note');
  t.equal((await records.audit.head())?.seq, head);
});

t.test('the holder of a token is told of its end from 14 days before', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada', { ttl: 15 * 86_400 });
  const end = new Date(store.clock.now.getTime() + days(15)).toISOString();
  const expires = async () => (await whoami(ada)).headers.get('macaroon-expires');
  store.clock.advance(days(1) - 1);
  t.equal(await expires(), null);
  store.clock.advance(1);
  t.equal(await expires(), end);
  t.equal((await ada.get('/v1/snap/nothing-here')).headers.get('macaroon-expires'), end, 'when it is refused, too');
  t.equal((await store.anyone.get('/')).headers.get('macaroon-expires'), null);
  store.clock.advance(days(14));
  t.equal((await whoami(ada)).status, 401);
});

t.test('tokens that end soon are listed, those first that end first, by operation and by command', async (t) => {
  const store = await startNow(t);
  for (const [person, ttl] of [
    ['ada', days(20)],
    ['bob', days(5)],
    ['ada', days(40)],
    ['ada', days(5)],
  ] as const) {
    await store.as(person, { ttl: ttl / 1000 });
  }
  const before = (length: number) => new Date(store.clock.now.getTime() + length).toISOString();
  const people = (tokens: Listed[]) => tokens.map(({ username }) => username);
  const soon = await listed(store, `ending-before=${before(days(30))}`);
  t.same(people(soon).sort(), ['ada', 'ada', 'bob']);
  t.same(
    soon,
    [...soon].sort((a, b) => (a['valid-until'] < b['valid-until'] ? -1 : 1)),
  );
  t.same(people(await listed(store, `ending-before=${before(days(30))}&account=${store.ids.bob}`)), ['bob']);
  t.same(await listed(store, `ending-before=${before(days(4))}`), []);
  const root = await store.as('root');
  const first = (await root.get(`/internal/v1/tokens?ending-before=${before(days(30))}&page-size=2`)).body;
  const rest = await root.get(
    `/internal/v1/tokens?ending-before=${before(days(30))}&page-size=2&cursor=${first['next-cursor'] as string}`,
  );
  t.same(
    [...(first.tokens as Listed[]), ...(rest.body.tokens as Listed[])].map((token) => token['session-id']),
    [...soon.map((token) => token['session-id'])],
  );
  const shown = (await command(store, 'token list --ending 30d')) as unknown as { tokens: Listed[] };
  t.same(
    shown.tokens.map((token) => token['session-id']),
    soon.map((token) => token['session-id']),
  );
  await root.post('/internal/v1/tokens/revoke', { 'session-id': soon[0]?.['session-id'] });
  t.equal((await listed(store, `ending-before=${before(days(30))}`)).length, 2, 'one that was revoked is good no more');
  for (const wrong of ['30', 'd', '-1d', '1w', '400d', '']) {
    t.match(await command(store, `token list --ending '${wrong}'`), { error: /--ending/ }, wrong);
  }
  for (const wrong of ['soon', '2026-13-01T00:00:00Z', '']) {
    t.match(await root.get(`/internal/v1/tokens?ending-before=${wrong}`), { status: 400 }, wrong);
  }
});

t.test('the end of tokens that have served for a while shows in the metrics', async (t) => {
  const store = await startStore(t);
  await store.as('ada', { ttl: 20 * 86_400 });
  const gauge = async () =>
    Number(/^larder_tokens_ending (\d+)$/m.exec(String((await store.anyone.get('/metrics')).body))?.[1]);
  t.equal(await gauge(), 0);
  store.clock.advance(days(15));
  await store.as('bob', { ttl: 3600 });
  t.equal(await gauge(), 1, 'what was issued for an hour always ends soon, and is not counted');
});

t.test('and in the status of the store', async (t) => {
  const store = await startNow(t);
  const session = await sessionOf(await store.as('ada'));
  t.match(await command(store, 'status'), { 'tokens-ending': 0 });
  const { records } = store.beside;
  const existing = await records.macaroons.find(session);
  if (existing === undefined) throw new Error('ada has no token');
  const at = (fromNow: number): string => new Date(store.clock.now.getTime() + days(fromNow)).toISOString();
  await records.change({ at: at(0), actor: 'test', action: 'issue', object: 'session' }, (tx) =>
    tx.macaroons.add({ ...existing, sessionId: 'older', validSince: at(-15), validUntil: at(13) }),
  );
  t.match(await command(store, 'status'), { 'tokens-ending': 1 });
  const { out } = await larder(`status --data ${store.directory}`);
  t.match(out, /Tokens ending +1; see 'larder token list --ending 14d'/);
});

t.test('a token that replaces another has its permissions, and the old one ends after the overlap', async (t) => {
  const store = await startNow(t);
  const old = await store.as('ada', { permissions: ['account-view-packages', 'package-view'], ttl: 86_400 });
  const session = await sessionOf(old);
  const rotated = await command(store, `token rotate ${session} --overlap 2h`);
  t.match(rotated, { 'account-id': store.ids.ada, replaces: session, macaroon: String });
  t.match(await newest(store), { action: 'rotate_token', object: `session/${session}` });
  store.clock.advance(minutes(1)); // past the moment at which the command issued it
  const fresh = store.with(String(rotated['macaroon']));
  t.same((await whoami(fresh)).body, (await whoami(old)).body);
  t.equal((await fresh.post('/v1/snap', { name: 'hello' })).status, 401, 'it is narrowed as the other one is');
  t.match(await command(store, `token rotate ${session}`), {
    code: 'conflict',
    error: new RegExp(`was already replaced by that of the session ${String(rotated['session-id'])}`),
  });

  store.clock.advance(hours(2) - minutes(2));
  t.equal((await whoami(old)).status, 200);
  store.clock.advance(minutes(3));
  t.equal((await whoami(old)).status, 401, 'its own words say that it lasts on');
  t.equal((await whoami(fresh)).status, 200);
  store.clock.advance(hours(21));
  t.equal((await whoami(fresh)).status, 200, 'it lasts as long as the other one was to last');
  store.clock.advance(hours(3));
  t.equal((await whoami(fresh)).status, 401);
});

t.test('a token is rotated once, and only while it is good', async (t) => {
  const store = await startNow(t);
  const ada = await store.as('ada');
  const session = await sessionOf(ada);
  const both = await Promise.all([
    command(store, `token rotate ${session}`),
    command(store, `token rotate ${session}`),
  ]);
  t.same(both.map((outcome) => outcome['code'] ?? 'done').sort(), ['conflict', 'done'], 'of two at once one does it');
  t.match(await command(store, 'token rotate never-was'), { code: 'resource-not-found' });
  const revoked = await sessionOf(await store.as('bob'));
  await command(store, `token revoke ${revoked} --yes`);
  t.match(await command(store, `token rotate ${revoked}`), { code: 'conflict', error: /was revoked at/ });
  t.equal((await store.beside.records.macaroons.list(store.ids.bob, '', true)).length, 1, 'and nothing was issued');
  const bobs = await sessionOf(await store.as('bob'));
  await command(store, `account disable ${store.ids.bob} --yes`);
  t.match(await command(store, `token rotate ${bobs}`), { code: 'conflict', error: /disabled account/ });
  for (const wrong of ['1', '1y', '91d']) {
    t.match(await command(store, `token rotate ${session} --overlap ${wrong}`), { error: /--overlap/ }, wrong);
  }
});

t.test('the token of a disabled account is refused by a sentence that helps', async (t) => {
  const store = await startStore(t);
  const bob = await store.as('bob');
  t.equal((await bob.get('/v1/tokens/whoami')).status, 200);
  await command(store, `account disable ${store.ids.bob} --yes`);
  const refused = (message: RegExp) => ({
    status: 401,
    body: { 'error-list': [{ code: 'macaroon-authorization-required', message }] },
  });
  t.match(await bob.get('/v1/tokens/whoami'), refused(/The account of this macaroon is disabled; an administrator/));
  await command(store, `account enable ${store.ids.bob}`);
  await command(store, `token revoke --account ${store.ids.bob} --yes`);
  t.match(await bob.get('/v1/tokens/whoami'), refused(/has been revoked; log in again/));
});

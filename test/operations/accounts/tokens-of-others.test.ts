// The tokens of all accounts, as a store administrator lists and revokes them.
import t from 'tap';

import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import { begin, dischargeInBrowser, exchange, macaroonList, startIdentity } from '#test/identity/world.ts';

interface Listed {
  'account-id': string;
  username: string;
  'session-id': string;
  'revoked-at': string | null;
  'revoked-by': string | null;
}

const refused = { status: 401, body: { 'error-list': [{ code: 'permission-required' }] } };
const goodStill = async (client: Client): Promise<boolean> => (await client.get('/v1/tokens/whoami')).status === 200;
const sessionOf = async (client: Client): Promise<string> =>
  ((await client.get('/v1/tokens')).body.macaroons as Listed[]).at(-1)?.['session-id'] ?? '';
const audited = async ({ beside: writableStore }: TestAppliance, action: string) =>
  (await writableStore.records.audit.list(0, 1000)).filter((row) => row.action === action);

t.test("everyone's tokens are listed page by page, newest first", async (t) => {
  const store = await startStore(t);
  const root = await store.as('root');
  const sessions: string[] = [];
  for (let at = 0; at < 5; at++) {
    if (at !== 3) store.clock.advance(1000); // two begin in the same moment
    sessions.unshift(await sessionOf(await store.as(at % 2 === 0 ? 'ada' : 'bob', { ttl: 100 + at })));
  }
  const listedTokens: Listed[] = [];
  let cursor = '';
  for (let pages = 0; pages < 10; pages++) {
    const { status, body } = await root.get(`/internal/v1/tokens?page-size=2${cursor}`);
    t.equal(status, 200);
    listedTokens.push(...(body.tokens as Listed[]));
    if (body['next-cursor'] === null) break;
    t.equal((body.tokens as Listed[]).length, 2);
    cursor = `&cursor=${body['next-cursor'] as string}`;
  }
  t.equal(listedTokens.length, 6);
  t.same(new Set(listedTokens.slice(0, 5).map((token) => token['session-id'])), new Set(sessions));
  t.equal(listedTokens[0]?.['session-id'], sessions[0]);
  t.equal(listedTokens.at(-1)?.username, 'root');
  const { body } = await root.get(`/internal/v1/tokens?account=${store.ids.bob}`);
  t.match(body, {
    tokens: [{ 'account-id': store.ids.bob, username: 'bob' }, { username: 'bob' }],
    'next-cursor': null,
  });
  t.equal((body.tokens as Listed[]).length, 2);
  store.clock.advance(200_000);
  t.equal(((await root.get('/internal/v1/tokens')).body.tokens as Listed[]).length, 1, 'the others have expired');
  t.equal(((await root.get('/internal/v1/tokens?include-inactive=1')).body.tokens as Listed[]).length, 6);
  for (const query of ['page-size=0', 'page-size=501', 'page-size=x', 'cursor=x', 'cursor=', 'account=']) {
    t.match(await root.get(`/internal/v1/tokens?${query}`), { status: 400 }, query);
  }
});

t.test('one stolen token is ended, and nothing else', async (t) => {
  const store = await startStore(t);
  const [root, ownClient, stolen] = [await store.as('root'), await store.as('ada'), await store.as('ada', { ttl: 60 })];
  const { tokens } = (await root.get(`/internal/v1/tokens?account=${store.ids.ada}`)).body;
  const session = (tokens as (Listed & { 'valid-until': string })[]).find((token) =>
    token['valid-until'].startsWith('2026-03-01'),
  )?.['session-id'];
  const reply = await root.post('/internal/v1/tokens/revoke', { 'session-id': session });
  t.match(reply, { status: 200, body: { username: 'ada', 'session-id': session, 'revoked-by': 'root' } });
  t.same([await goodStill(ownClient), await goodStill(stolen), await goodStill(root)], [true, false, true]);
  store.clock.advance(1000);
  const again = await root.post('/internal/v1/tokens/revoke', { 'session-id': session });
  t.equal(again.body['revoked-at'], reply.body['revoked-at'], 'twice keeps the first time');
  t.match(await root.post('/internal/v1/tokens/revoke', { 'session-id': 'never-was' }), { status: 404 });
  const rows = await audited(store, 'revoke_token');
  t.match(rows, [{ actor: 'root', object: `session/${String(session)}` }, {}]);
  t.same(JSON.parse(rows[0]?.details ?? ''), { account: store.ids.ada });
});

t.test('other accounts neither list nor revoke foreign tokens, and disable no account', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const session = await sessionOf(ada);
  const attempts = (client: Client) => [
    client.get('/internal/v1/tokens'),
    client.post('/internal/v1/tokens/revoke', { 'session-id': session }),
    client.post(`/internal/v1/accounts/${store.ids.ada}/end-tokens`, {}),
    client.post(`/internal/v1/accounts/${store.ids.ada}/disable`, {}),
    client.post(`/internal/v1/accounts/${store.ids.ada}/enable`),
  ];
  for (const client of [
    await store.as('bob'),
    ada,
    await store.as('root', { permissions: ['package-manage', 'account-manage-metadata'] }),
    await store.as('root', { packages: [{ type: 'snap', name: 'hello' }] }),
    await store.as('root', { channels: ['edge'] }),
  ]) {
    for (const reply of await Promise.all(attempts(client))) t.match(reply, refused);
  }
  for (const reply of await Promise.all(attempts(store.anyone))) t.equal(reply.status, 401);
  const viewer = await store.as('root', { permissions: ['store-view'] });
  const [listed, ...others] = await Promise.all(attempts(viewer));
  t.equal(listed?.status, 200);
  for (const reply of others) t.match(reply, refused);
  t.ok(await goodStill(ada));
});

t.test('a revoked token stays revoked when the account is enabled again', async (t) => {
  const store = await startStore(t);
  const [root, ada] = [await store.as('root'), await store.as('ada')];
  await store.as('ada');
  const account = `/internal/v1/accounts/${store.ids.ada}`;
  t.match(await root.post(`${account}/disable`), { status: 200, body: { username: 'ada', 'ended-tokens': 0 } });
  t.notOk(await goodStill(ada));
  t.match(await root.post(`${account}/enable`), { status: 200, body: { 'disabled-at': null } });
  t.ok(await goodStill(ada), 'without that they are good again');
  store.clock.advance(1000);
  const disabled = await root.post(`${account}/disable`, { 'end-tokens': true });
  t.same(disabled.body, {
    id: store.ids.ada,
    username: 'ada',
    'disabled-at': '2026-03-01T12:00:01.000Z',
    'ended-tokens': 2,
  });
  await root.post(`${account}/enable`);
  t.notOk(await goodStill(ada));
  t.ok(await goodStill(await store.as('ada')), 'a new one is good');
  t.same(JSON.parse((await audited(store, 'disable_account')).at(-1)?.details ?? ''), { 'ended-tokens': 2 });
  t.equal((await audited(store, 'enable_account')).length, 2);
  for (const path of ['disable', 'enable', 'end-tokens']) {
    t.match(await root.post(`/internal/v1/accounts/nobody/${path}`), { status: 404 });
  }
  for (const body of [{ 'end-tokens': 'yes' }, { all: true }]) {
    t.match(await root.post(`${account}/disable`, body), { status: 400 });
  }
});

t.test('all tokens of an account end, or those issued before a moment', async (t) => {
  const store = await startStore(t);
  const root = await store.as('root');
  const end = (body?: object) => root.post(`/internal/v1/accounts/${store.ids.ada}/end-tokens`, body);
  const old = await store.as('ada');
  store.clock.advance(60_000);
  const [moment, young, bob] = [store.clock.now.toISOString(), await store.as('ada'), await store.as('bob')];
  t.match(await end({ 'issued-before': '2026-03-01T13:01:00+01:00' }), { status: 200, body: { 'ended-tokens': 1 } });
  t.same([await goodStill(old), await goodStill(young)], [false, true], moment);
  t.match(await end(), { status: 200, body: { 'ended-tokens': 1, 'disabled-at': null } });
  t.same([await goodStill(young), await goodStill(bob), await goodStill(root)], [false, true, true]);
  t.match(await end(), { status: 200, body: { 'ended-tokens': 0 } });
  for (const body of [{ 'issued-before': 'yesterday' }, { 'issued-before': 5 }, { before: moment }]) {
    t.match(await end(body), { status: 400 }, JSON.stringify(body));
  }
  t.same(
    (await audited(store, 'end_tokens')).map(({ details }) => JSON.parse(details) as object),
    [{ 'issued-before': moment, 'ended-tokens': 1 }, { 'ended-tokens': 1 }, { 'ended-tokens': 0 }],
  );
});

t.test('a login that was kept for later is ended too, and a new one begins', async (t) => {
  const store = await startIdentity(t);
  const root = await store.as('root');
  const proven = async (): Promise<string> => {
    const { root: login, caveatId } = await begin(store);
    return Buffer.from(macaroonList(login, await dischargeInBrowser(store, caveatId))).toString('base64url');
  };
  const [unused, used] = [await proven(), await proven()];
  const ada = store.with((await exchange(store, used)).body.macaroon as string);
  store.clock.advance(1000);
  t.match(await root.post(`/internal/v1/accounts/${store.ids.ada}/end-tokens`), { body: { 'ended-tokens': 1 } });
  t.notOk(await goodStill(ada));
  t.equal((await exchange(store, unused)).status, 401);
  t.equal((await exchange(store, used)).status, 401);
  t.equal((await exchange(store, await proven())).status, 200);
});

t.test('the last store administrator stays in', async (t) => {
  const store = await startStore(t);
  const root = await store.as('root');
  const disable = (id: string) => root.post(`/internal/v1/accounts/${id}/disable`, { 'end-tokens': true });
  const last = {
    status: 409,
    body: { 'error-list': [{ code: 'conflict', message: /^The account 'root' is the only store administrator/ }] },
  };
  t.match(await disable('root'), last);
  t.ok(await goodStill(root), 'with its tokens');
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'test', object: 'ada' }, (tx) =>
    tx.accounts.makeStoreAdministrator(store.ids.ada, at),
  );
  t.match(await disable(store.ids.ada), { status: 200 });
  t.match(await disable('root'), last, 'one who is disabled is no other');
  await root.post(`/internal/v1/accounts/${store.ids.ada}/enable`);
  t.match(await disable('root'), { status: 200 });
});

import t from 'tap';

import { startStore, type Client } from '#test/fixtures/appliance.ts';
import { footprint } from '#test/fixtures/footprint.ts';

const sessions = async (client: Client): Promise<string[]> =>
  ((await client.get('/v1/tokens')).body.macaroons as { 'session-id': string }[]).map(
    (macaroon) => macaroon['session-id'],
  );

const notThere = { status: 404, body: { 'error-list': [{ code: 'resource-not-found' }] } };

t.test('a revoked token is refused at once', async (t) => {
  const store = await startStore(t);
  const keeper = await store.as('ada');
  const [own = ''] = await sessions(keeper);
  const lost = await store.as('ada');
  for (let turn = 0; turn < 3; turn++) t.equal((await lost.get('/v1/tokens/whoami')).status, 200);
  const session = (await sessions(keeper)).find((id) => id !== own) ?? '';
  const reply = await keeper.post('/v1/tokens/revoke', { 'session-id': session });
  t.equal(reply.status, 200);
  const listed = (reply.body.macaroons as { 'session-id': string }[]).find(
    (macaroon) => macaroon['session-id'] === session,
  );
  t.match(listed, { 'revoked-at': '2026-03-01T12:00:00.000Z', 'revoked-by': store.ids.ada });
  t.match(await lost.get('/v1/tokens/whoami'), { status: 401, body: { Code: 'macaroon discharge required' } });
  t.equal((await keeper.get('/v1/tokens/whoami')).status, 200, 'the others go on');
  t.same(await sessions(keeper), [own]);
  await store.restart();
  t.equal((await lost.get('/v1/tokens/whoami')).status, 401, 'for ever');
});

t.test('revoking again keeps the first time', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const [own = ''] = await sessions(ada);
  await store.as('ada');
  const session = (await sessions(ada)).find((id) => id !== own) ?? '';
  await ada.post('/v1/tokens/revoke', { 'session-id': session });
  store.clock.advance(60_000);
  const again = await ada.post('/v1/tokens/revoke', { 'session-id': session });
  t.match(again, { status: 200 });
  t.match(JSON.stringify(again.body), /"revoked-at":"2026-03-01T12:00:00.000Z"/);
});

t.test('a token can revoke itself, once', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const [own] = await sessions(ada);
  t.match(await ada.post('/v1/tokens/revoke', { 'session-id': own }), { status: 200 });
  t.match(await ada.post('/v1/tokens/revoke', { 'session-id': own }), { status: 401 });
});

t.test('a session of another account, and an unknown one, are not found', async (t) => {
  const store = await startStore(t);
  const [ada, bob, root] = [await store.as('ada'), await store.as('bob'), await store.as('root')];
  const [session] = await sessions(ada);
  const before = footprint(store.directory);
  t.match(await bob.post('/v1/tokens/revoke', { 'session-id': session }), notThere);
  t.match(await root.post('/v1/tokens/revoke', { 'session-id': session }), notThere, 'not even for an administrator');
  for (const id of ['00000000-0000-0000-0000-000000000000', 'x', session?.toUpperCase()]) {
    t.match(await bob.post('/v1/tokens/revoke', { 'session-id': id }), notThere);
  }
  for (const body of [
    {},
    { 'session-id': '' },
    { 'session-id': null },
    { 'session-id': 'x'.repeat(65) },
    { 'session-id': session, all: true },
  ]) {
    t.match(await ada.post('/v1/tokens/revoke', body), {
      status: 400,
      body: { 'error-list': [{ code: 'api-error' }] },
    });
  }
  t.same(footprint(store.directory), before);
  t.equal((await ada.get('/v1/tokens/whoami')).status, 200);
});

t.test('a revocation by another process is effective at once', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const [session = ''] = await sessions(ada);
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'revoke', object: `session/${session}` }, (tx) =>
    tx.macaroons.revoke(session, store.ids.ada, at),
  );
  t.equal((await ada.get('/v1/tokens/whoami')).status, 401);
});

t.test('a narrowed token ends itself alone, unless it may manage the account', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const [victim = ''] = await sessions(ada);
  const refused = { status: 401, body: { 'error-list': [{ code: 'permission-required' }] } };
  for (const attenuated of [
    { permissions: ['package-view' as const] },
    { channels: ['edge'] },
    { packages: [{ type: 'snap' as const, name: 'zzz' }] },
    { permissions: ['account-manage-metadata' as const], channels: ['edge'] },
  ]) {
    const leaked = await store.as('ada', attenuated);
    t.match(await leaked.post('/v1/tokens/revoke', { 'session-id': victim }), refused, JSON.stringify(attenuated));
    t.match(await leaked.post('/v1/tokens/revoke', { 'session-id': 'never-was' }), refused, 'and learns nothing');
    const [itself] = await sessions(leaked);
    const ended = await leaked.post('/v1/tokens/revoke', { 'session-id': itself });
    t.match(ended, { status: 200, body: { macaroons: [{ 'session-id': itself, 'revoked-by': store.ids.ada }] } });
    t.equal(ended.body.macaroons.length, 1);
    t.match(await leaked.get('/v1/tokens/whoami'), { status: 401 });
  }
  t.match(await ada.get('/v1/tokens/whoami'), { status: 200 }, 'nobody was logged out');
  const keeper = await store.as('ada', { permissions: ['account-manage-metadata'] });
  t.match(await keeper.post('/v1/tokens/revoke', { 'session-id': victim }), { status: 200 });
  t.match(await ada.get('/v1/tokens/whoami'), { status: 401 });
});

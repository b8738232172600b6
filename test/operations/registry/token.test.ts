import t from 'tap';

import { hours, minutes } from '#domain/clock.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import {
  declare,
  digestOf,
  fetchToken,
  logIn,
  mediaTypes,
  pushImage,
  remove,
  uploadLogin,
  withToken,
  type Login,
} from '#test/fixtures/packages/images.ts';
import { raw } from '#test/fixtures/clients/raw.ts';

async function readLogin(
  store: Awaited<ReturnType<typeof startStore>>,
  digest: string,
  name = 'hello',
): Promise<Login> {
  const ada = await store.as('ada');
  const { body } = await ada.post(`/v1/charm/${name}/resources/image/oci-image/blob`, { 'image-digest': digest });
  return { image: body.ImageName, username: body.Username, password: body.Password };
}

t.test('a client without a token is told where to fetch one', async (t) => {
  const store = await startStore(t);
  const id = await declare(store, 'ada', 'hello');
  const repository = `images/${id.toLowerCase()}/image`;
  const ping = await fetch(`${store.url}/v2/`);
  t.equal(ping.status, 401);
  t.equal(
    ping.headers.get('www-authenticate'),
    'Bearer realm="http://127.0.0.1:8080/registry/token",service="127.0.0.1:8080"',
  );
  t.equal(ping.headers.get('docker-distribution-api-version'), 'registry/2.0');
  t.match(await ping.json(), { errors: [{ code: 'UNAUTHORIZED', message: String, detail: null }] });
  for (const [method, path, actions] of [
    ['GET', 'tags/list', 'pull'],
    ['HEAD', 'manifests/latest', 'pull'],
    ['PUT', 'manifests/latest', 'pull,push'],
    ['POST', 'blobs/uploads/', 'pull,push'],
  ] as const) {
    const { status, headers } = await withToken(store, repository, '').call(method, path);
    t.equal(status, 401);
    t.match(headers.get('www-authenticate'), `,scope="repository:${repository}:${actions}"`);
  }
  const client = await logIn(store, await uploadLogin(await store.as('ada'), 'hello'));
  const reply = await client.call('GET', `${store.url}/v2/`);
  t.match(reply, { status: 200, text: '{}' });
});

t.test('a host that could end the quotation is not repeated', async (t) => {
  const store = await startStore(t);
  for (const host of ['a"b', 'x/y', 'x y']) {
    const reply = await raw(store.url, `GET /v2/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    t.equal(
      reply?.headers['www-authenticate'],
      'Bearer realm="http://127.0.0.1:8080/registry/token",service="127.0.0.1:8080"',
    );
  }
});

t.test('neither a token of the store nor an altered one is valid here', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const { repository, token } = await logIn(store, await uploadLogin(ada, 'hello'));
  const [payload = '', signature = ''] = token.split('.');
  const forged = Buffer.from(Buffer.from(payload, 'base64url').toString().replace('image"', 'other"')).toString(
    'base64url',
  );
  for (const text of [
    ada.token,
    `${forged}.${signature}`,
    `${payload}.`,
    payload,
    `${payload}.${'A'.repeat(43)}`,
    `${token}.x`,
    'x',
    '.',
  ]) {
    const reply = await withToken(store, repository, text).call('GET', 'tags/list');
    t.match(reply, { status: 401, code: 'UNAUTHORIZED' }, text.slice(0, 20));
    t.match(reply.headers.get('www-authenticate'), /error="invalid_token"$/);
  }
  for (const authorization of ['Basic x', 'Bearer', 'Nonsense', `Macaroon ${token}`]) {
    const { status } = await fetch(`${store.url}/v2/${repository}/tags/list`, { headers: { authorization } });
    t.equal(status, 401, authorization);
  }
  t.equal((await ada.get('/v1/tokens/whoami')).status, 200);
  t.equal(
    (await store.with(token).get('/v1/tokens/whoami')).status,
    401,
    'nor is one of the registry good for the store',
  );
});

t.test('wrong credentials get no token', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const login = await uploadLogin(await store.as('ada'), 'hello');
  for (const wrong of [
    { ...login, password: `${login.password}x` },
    { ...login, password: '' },
    { ...login, username: 'ada' },
    { ...login, username: '' },
  ]) {
    const reply = await fetchToken(store, wrong);
    t.match(reply, { status: 401, code: 'UNAUTHORIZED' });
    t.equal(reply.headers.get('www-authenticate'), 'Basic realm="larder"');
  }
  for (const authorization of ['Basic', 'Basic !', 'Basic eA==', 'Bearer x', '']) {
    t.equal((await fetch(`${store.url}/registry/token`, { headers: { authorization } })).status, 401, authorization);
  }
  t.equal((await fetch(`${store.url}/registry/token`, { method: 'POST' })).status, 405, 'clients then come by GET');
});

t.test('a token is valid for its own repository and its permitted actions only', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  await declare(store, 'ada', 'other');
  const ada = await store.as('ada');
  const mine = await uploadLogin(ada, 'hello');
  const other = await logIn(store, await uploadLogin(ada, 'other'));
  await pushImage(other, 'latest', 'layer');
  const { text } = await fetchToken(
    store,
    mine,
    `repository:${mine.image.split('/').slice(1).join('/')}:pull,push`,
    `repository:${other.repository}:pull,push,*`,
    'registry:catalog:*',
    'nonsense',
  );
  const { token, expires_in: lasts } = JSON.parse(text) as { token: string; expires_in: number };
  t.equal(lasts, 300);
  const elsewhere = withToken(store, other.repository, token);
  for (const [method, path] of [
    ['GET', 'tags/list'],
    ['GET', 'manifests/latest'],
    ['GET', `blobs/${digestOf('layer')}`],
    ['POST', 'blobs/uploads/'],
  ] as const) {
    const reply = await elsewhere.call(method, path);
    t.match(reply, { status: 401, code: 'UNAUTHORIZED' }, `${method} ${path}`);
    t.match(reply.headers.get('www-authenticate'), /error="insufficient_scope"$/);
  }
  const reading = await logIn(store, mine, 'pull');
  t.match(await reading.call('GET', 'tags/list'), { status: 200 });
  t.match(await reading.call('POST', 'blobs/uploads/'), { status: 401, code: 'UNAUTHORIZED' });
  t.match(await reading.manifest('latest', {}), { status: 401 });
});

t.test('credentials to push are used first within ten minutes', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const early = await uploadLogin(ada, 'hello');
  const late = await uploadLogin(ada, 'hello');
  store.clock.advance(minutes(10) - 1);
  t.equal((await fetchToken(store, early)).status, 200);
  store.clock.advance(1);
  t.equal((await fetchToken(store, late)).status, 401);
  t.equal((await fetchToken(store, early)).status, 200, 'what was used in time goes on');
});

t.test('they last as long as the upload moves, and at most six hours', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const login = await uploadLogin(await store.as('ada'), 'hello');
  const begun = store.clock.now.getTime();
  let client = await logIn(store, login);
  const begunAt = (await client.call('POST', 'blobs/uploads/')).headers.get('location') ?? '';
  const [location = ''] = begunAt.split('?');
  while (store.clock.now.getTime() - begun < hours(6) - minutes(9)) {
    store.clock.advance(minutes(9));
    t.equal((await client.call('PATCH', location, 'x')).status, 401, 'a token lasts five minutes');
    client = await logIn(store, login);
    t.equal((await client.call('PATCH', location, 'x')).status, 202);
  }
  store.clock.now = new Date(begun + hours(6));
  t.equal((await client.call('PATCH', location, 'x')).status, 401);
  t.equal((await fetchToken(store, login)).status, 401);

  const idle = await uploadLogin(await store.as('ada'), 'hello');
  await logIn(store, idle);
  store.clock.advance(minutes(10));
  t.equal((await fetchToken(store, idle)).status, 401, 'nothing moved');
});

t.test('they end with the token of the request, and with the role of the account in the package', async (t) => {
  const store = await startStore(t);
  const id = await declare(store, 'ada', 'hello');
  const at = store.clock.now.toISOString();
  const entry = { at, actor: 'test', action: 'collaborate', object: 'charm/hello' };
  await store.beside.records.change(entry, (tx) => tx.collaborators.add(id, store.ids.bob, store.ids.ada, at));
  const bob = await store.as('bob');
  const client = await logIn(store, await uploadLogin(bob, 'hello'));
  t.match(await client.call('GET', 'tags/list'), { status: 200 });

  const ended = await store.as('bob', { ttl: 60 });
  const short = await uploadLogin(ended, 'hello');
  t.equal((await fetchToken(store, short)).status, 200);
  store.clock.advance(minutes(1));
  t.equal((await fetchToken(store, short)).status, 401, 'the token ended');

  await store.beside.records.change(entry, async (tx) => {
    for (const { sessionId } of await tx.macaroons.list(store.ids.bob, at, true))
      await tx.macaroons.revoke(sessionId, store.ids.bob, at);
  });
  t.match(await client.call('GET', 'tags/list'), { status: 401 }, 'revoked: at once, also for tokens of the registry');

  await store.join('carol');
  await store.beside.records.change(entry, (tx) => tx.accounts.makeStoreAdministrator(store.ids['carol'] ?? '', at));
  const carol = await uploadLogin(await store.as('carol'), 'hello');
  t.equal((await fetchToken(store, carol)).status, 200);
  await store.beside.records.change(entry, (tx) => tx.accounts.endStoreAdministrator(store.ids['carol'] ?? ''));
  t.equal((await fetchToken(store, carol)).status, 401, 'the role was taken');
});

t.test('pull credentials only pull, do not expire, and survive restarts and new root keys', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const digest = await pushImage(
    await logIn(store, await uploadLogin(await store.as('ada'), 'hello')),
    'latest',
    'layer',
  );
  const login = await readLogin(store, digest);
  const reader = await logIn(store, login);
  t.match(await reader.call('GET', `manifests/${digest}`), { status: 200 });
  t.match(await reader.call('GET', `blobs/${digestOf('layer')}`), { status: 200, text: 'layer' });
  t.match(await reader.call('POST', 'blobs/uploads/'), { status: 401, code: 'UNAUTHORIZED' });
  t.match(await reader.manifest('latest', {}, mediaTypes.manifest), { status: 401 });
  const spent = await store.beside.records.rootKeys.newest();
  await store.beside.rootKeys.rotate({ actor: 'test' });
  const entry = { at: store.clock.now.toISOString(), actor: 'test', action: 'remove', object: 'root-key' };
  await store.beside.records.change(entry, (tx) => tx.rootKeys.remove(spent?.id ?? ''));
  store.clock.advance(hours(24 * 365 * 20));
  await store.restart();
  t.match(await (await logIn(store, login)).call('GET', `manifests/${digest}`), { status: 200 });
});

t.test('credentials end with the package', async (t) => {
  const store = await startStore(t);
  const id = await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const client = await logIn(store, await uploadLogin(ada, 'hello'));
  const login = await readLogin(store, await pushImage(client, 'latest', 'layer'));
  const reader = await logIn(store, login);
  await remove(store, id);
  t.equal((await fetchToken(store, login)).status, 401);
  t.match(await reader.call('GET', 'tags/list'), { status: 401 });
  t.match(await client.blob('more'), { status: 401 });
});

t.test('no password and no token is in the log', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const login = await uploadLogin(await store.as('ada'), 'hello');
  const client = await logIn(store, login);
  const read = await readLogin(store, await pushImage(client, 'latest', 'layer'));
  await fetchToken(store, { ...login, username: 'nobody' });
  const log = store.log.join('');
  const audit = JSON.stringify(await store.beside.records.audit.list(0, 1000));
  for (const secret of [login.password, read.password, client.token]) {
    t.notOk(log.includes(secret));
    t.notOk(audit.includes(secret));
  }
  t.ok(audit.includes(login.username), 'who pushed can be found');
});

import { hash } from 'node:crypto';

import t from 'tap';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';

const credential = 'AgEIbGFyZGVyLTECD2EgY3JlZGVudGlhbAAABiDc0ffee';
const digest = (text: string): string => hash('sha3-384', text, 'hex');
const withDigests = (value: string) => (text: string) =>
  text.replace(/^store_admin_macaroon_sha3_384 = .*$/m, `store_admin_macaroon_sha3_384 = ${value}`);

const exchange = (store: TestAppliance, macaroon: unknown, headers?: Record<string, string>) =>
  store.anyone.post('/v1/tokens/offline/exchange', { macaroon }, headers);
const wrong = { status: 401, body: { 'error-list': [{ code: 'macaroon-authorization-required' }] } };

t.test("the administrator's credential is exchanged for a token", async (t) => {
  const store = await startStore(t, withDigests(`"${digest(credential)}"`));
  const reply = await exchange(store, credential);
  t.equal(reply.status, 200);
  t.same(Object.keys(reply.body), ['macaroon']);
  t.match(reply.body.macaroon, /^[A-Za-z0-9_-]+$/, 'unpadded base64url');
  const root = store.with(reply.body.macaroon as string);
  t.match((await root.get('/v1/tokens/whoami')).body, {
    account: { id: 'root' },
    permissions: null,
    channels: null,
    packages: null,
  });
  const again = await exchange(store, credential);
  t.not(again.body.macaroon, reply.body.macaroon, 'each time another one');
  t.equal((await root.get('/v1/tokens')).body.macaroons.length, 2);
  t.match(await store.anyone.post('/publishergw/v1/tokens/offline/exchange', { macaroon: credential }), {
    status: 200,
  });
});

t.test('space and line ends around the credential do no harm', async (t) => {
  const store = await startStore(t, withDigests(`"${digest(credential)}"`));
  for (const text of [`${credential}\n`, `${credential}\r\n`, `  ${credential}\n\n`, `\t${credential} `]) {
    t.match(await exchange(store, text), { status: 200 }, JSON.stringify(text.slice(-3)));
  }
});

t.test('several credentials may be good', async (t) => {
  const store = await startStore(t, withDigests(`["${digest('one')}", "${digest('two')}"]`));
  t.match(await exchange(store, 'one'), { status: 200 });
  t.match(await exchange(store, 'two\n'), { status: 200 });
  t.match(await exchange(store, 'three'), wrong);
  t.match(await exchange(store, digest('one')), wrong, 'the digest is not the credential');
});

t.test('no Authorization is needed, and a wrong one is not looked at', async (t) => {
  const store = await startStore(t, withDigests(`"${digest(credential)}"`));
  t.match(await exchange(store, credential, { authorization: 'Macaroon nonsense' }), { status: 200 });
});

t.test('a body that is wrong is refused', async (t) => {
  const store = await startStore(t, withDigests(`"${digest(credential)}"`));
  for (const body of [
    {},
    { macaroon: 5 },
    { macaroon: null },
    { macaroon: '' },
    { macaroon: [credential] },
    { macaroon: credential, ttl: 10 },
    { macaroon: 'x'.repeat(65_537) },
  ]) {
    const reply = await store.anyone.post('/v1/tokens/offline/exchange', body);
    t.match(reply, { status: 400, body: { 'error-list': [{ code: 'api-error' }] } }, JSON.stringify(body).slice(0, 60));
    t.notMatch(JSON.stringify(reply.body), credential.slice(0, 12), 'and not repeated');
  }
  t.notMatch(store.log.join(''), credential.slice(0, 12), 'not even in the log');
});

t.test('ten failures a minute, then an address waits; the right credential never does', async (t) => {
  const store = await startStore(t, withDigests(`"${digest(credential)}"`));
  for (let turn = 0; turn < 10; turn++) {
    t.match(await exchange(store, `wrong ${turn}`), wrong);
    store.clock.advance(1000);
  }
  const reply = await exchange(store, 'wrong again');
  t.match(reply, { status: 429, body: { 'error-list': [{ code: 'too-many-requests' }] } });
  t.equal(reply.headers.get('retry-after'), '59');
  for (let turn = 0; turn < 30; turn++) t.equal((await exchange(store, credential)).status, 200);
  store.clock.advance(58_999);
  t.match(await exchange(store, 'wrong'), { status: 429 });
  store.clock.advance(1);
  t.match(await exchange(store, 'wrong'), wrong, 'and the count begins anew');
});

t.test('addresses are counted apart, through the proxies that are trusted', async (t) => {
  const store = await startStore(t, (text) =>
    withDigests(`"${digest(credential)}"`)(text).replace(
      /^# trusted_proxies = .*$/m,
      'trusted_proxies = ["127.0.0.1"]',
    ),
  );
  const from = (address: string) => exchange(store, 'wrong', { 'x-forwarded-for': address });
  for (let turn = 0; turn < 10; turn++) await from('10.0.0.1');
  t.match(await from('10.0.0.1'), { status: 429 });
  t.match(await from('10.0.0.2'), { status: 401 });
  t.match(await from('10.0.0.2, 10.0.0.1'), { status: 429 }, 'the last address that is no proxy counts');
  t.match(await from('10.0.0.1, 127.0.0.1'), { status: 429 });
  t.match(await exchange(store, 'wrong'), { status: 401 });
  for (let turn = 0; turn < 10; turn++) await from(`2001:db8::${turn}`);
  t.match(await from('2001:db8::ffff'), { status: 429 }, 'all addresses of a client with IPv6 are counted as one');
});

t.test('without trusted proxies a client cannot choose its address', async (t) => {
  const store = await startStore(t, withDigests(`"${digest(credential)}"`));
  for (let turn = 0; turn < 10; turn++) await exchange(store, 'wrong', { 'x-forwarded-for': `10.0.0.${turn}` });
  t.match(await exchange(store, 'wrong', { 'x-forwarded-for': '10.0.0.99' }), { status: 429 });
});

t.test('it is not there outside offline mode, nor without the settings', async (t) => {
  for (const configure of [
    (text: string) => text.replace('offline_mode = true', 'offline_mode = false'),
    (text: string) => text.replace(/^store_admin_.*$/gm, ''),
  ]) {
    const store = await startStore(t, configure);
    t.match(await exchange(store, credential), {
      status: 404,
      body: { 'error-list': [{ code: 'resource-not-found' }] },
    });
  }
});

t.test('an administrator that does not exist is refused, with any credential', async (t) => {
  const store = await startStore(t, (text) =>
    withDigests(`"${digest(credential)}"`)(text).replace('store_admin_id = "root"', 'store_admin_id = "nobody"'),
  );
  t.match(await exchange(store, credential), { status: 403, body: { 'error-list': [{ code: 'forbidden' }] } });
});

// The log of a whole journey: a line for each call, and no secret in any of them.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { addBrand } from '#test/fixtures/brands.ts';
import { raw, request } from '#test/fixtures/clients/raw.ts';

const credential = 'AgEIbGFyZGVyLTECDmEtc3RvcmUtYWRtaW4AAAYgq83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA';

/** Every run of so many characters of a text: a secret that is cut is still a secret. */
const window = 14;
const runs = (text: string): Set<string> =>
  new Set(Array.from({ length: Math.max(0, text.length - window + 1) }, (_, at) => text.slice(at, at + window)));

t.test('no token, key or credential is in the log', async (t) => {
  const store = await startStore(t, (text) =>
    text.replace(
      /^store_admin_macaroon_sha3_384 = .*$/m,
      `store_admin_macaroon_sha3_384 = "${hash('sha3-384', credential, 'hex')}"`,
    ),
  );
  const secrets = [
    credential,
    ...['site.key', 'master.key'].map((file) => readFileSync(join(store.directory, file), 'utf8').trim()),
  ];
  const exchange = (macaroon: unknown) => store.anyone.post('/v1/tokens/offline/exchange', { macaroon });
  const { macaroon: rootToken } = (await exchange(`${credential}\n`)).body as { macaroon: string };
  const root = store.with(rootToken);
  const ada = await store.as('ada');
  const narrow = await store.as('ada', { permissions: [], packages: [{ type: 'snap', name: 'x' }] });
  secrets.push(rootToken, ada.token, narrow.token);

  // The way things should go.
  const brand = await addBrand(store, 'ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  await ada.push('snap', 'tiny-app', await snapFixture('app-xz'));
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'edge', revision: 1 }]);
  await ada.get('/v1/tokens/whoami');
  const key = (await ada.post(`/v1/brand/${brand}/signing_key`, { name: 'serials' })).body as { 'sha3-384': string };
  await ada.post(`/v1/brand/${brand}/signing_key/${key['sha3-384']}/account-key-request`);
  const storedKey = await store.beside.records.signingKeys.find(key['sha3-384']);
  secrets.push(storedKey?.sealed ?? '');
  await root.get('/v1/tokens');

  // And secrets in the wrong place of a request.
  const wrong = `${ada.token.slice(0, -6)}AAAAAA`;
  await store.with(wrong).get('/v1/tokens/whoami');
  await narrow.get('/v1/snap/tiny-app');
  await exchange([credential]);
  await exchange({ macaroon: credential });
  await exchange(`${credential}wrong`);
  await exchange('x'.repeat(65_537) + credential);
  await store.anyone.post('/v1/tokens/offline/exchange', JSON.stringify(credential));
  await store.anyone.post('/v1/tokens/offline/exchange', credential);
  await store.anyone.post('/v1/tokens/offline/exchange', [credential]);
  await store.anyone.post('/v1/charm', { name: 'hello', macaroon: wrong });
  await store.anyone.post('/v1/charm', { name: 'hello', macaroon: ada.token });
  await ada.post('/v1/snap', { name: 'hello', macaroon: ada.token });
  await ada.post('/v1/snap', { name: 'hello', private: ada.token });
  await ada.post('/v1/tokens/revoke', { 'session-id': ada.token });
  await ada.get(`/v1/snap?macaroon=${ada.token}`);
  await ada.get(`/v1/snap?macaroon=${ada.token}&macaroon=${ada.token}`);
  await store.anyone.get(`/v1/tokens/whoami?token=${ada.token}`);
  await store.anyone.get('/v1/tokens/whoami', { authorization: `Basic ${ada.token}` });
  await store.anyone.get('/v1/tokens/whoami', { authorization: `Macaroon root=${ada.token}, discharge=${wrong}` });
  await store.anyone.get('/v1/tokens/whoami', {
    macaroons: Buffer.from(JSON.stringify([ada.token])).toString('base64'),
  });
  await raw(store.url, request('GET /', [`Authorization: Macaroon ${ada.token}`, 'Host: twice']));
  await raw(store.url, request('GET /', [`Authorization: Macaroon ${ada.token.repeat(300)}`]));
  await raw(store.url, `GET / HTTP/1.1\r\nAuthorization: Macaroon ${ada.token}\r\nX : bad\r\n\r\n`);
  await store.restart();

  const lines = store.log.join('');
  const seen = runs(lines);
  for (const [at, secret] of secrets.entries()) {
    t.ok(secret.length > window, `secret ${at}`);
    t.notOk(
      [...runs(secret)].some((run) => seen.has(run)),
      `secret ${at} is nowhere in the log`,
    );
    const hex = Buffer.from(secret, 'base64url').toString('hex');
    t.notOk(
      [...runs(hex)].some((run) => seen.has(run)),
      `nor is it in hexadecimal digits`,
    );
  }
  t.notMatch(lines, '"level":"error"');
});

t.test('an internal error is reported to the caller without details, and logged with all of them', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const db = new SQLite(join(store.directory, 'larder.db'));
  t.teardown(() => db.close());
  db.exec('ALTER TABLE tracks RENAME TO trucks');
  const reply = await ada.get('/v1/snap');
  t.equal(reply.status, 500);
  t.same(Object.keys(reply.body), ['error-list']);
  t.match(reply.body['error-list'], [{ code: 'internal-error', message: /x-request-id/ }]);
  t.notMatch(JSON.stringify(reply.body), /tracks|SQL/i);
  const line = store.log.find((entry) => entry.includes('"level":"error"')) ?? '';
  t.match(JSON.parse(line), {
    request: reply.headers.get('x-request-id'),
    operation: 'list_registered_names',
    status: 500,
    err: { message: /no such table/, stack: String },
  });
  db.exec('ALTER TABLE trucks RENAME TO tracks');
  // The last write of a change.
  db.exec("CREATE TRIGGER broken BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'broken'); END");
  t.match(await ada.post('/v1/snap', { name: 'hello' }), { status: 500 });
  t.equal(await store.beside.records.packages.find('snap', 'hello'), undefined, 'what failed half way was undone');
  db.exec('DROP TRIGGER broken');
  t.equal((await ada.post('/v1/snap', { name: 'hello' })).status, 200, 'and the process goes on');
});

t.test('a log line has actor, act, address and outcome', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const last = (): Record<string, unknown> => JSON.parse(store.log.at(-1) ?? '{}') as Record<string, unknown>;

  const fine = await ada.post('/v1/snap', { name: 'hello' });
  t.match(last(), {
    level: 'info',
    time: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    request: fine.headers.get('x-request-id'),
    operation: 'register_name',
    method: 'POST',
    status: 200,
    account: store.ids.ada,
    address: '127.0.0.1',
    ms: Number,
    msg: 'answered',
  });
  await ada.post('/v1/snap', { name: 'hello' });
  t.match(last(), { status: 409, refusal: 'already-owned', reason: /hello/ });
  await store.anyone.get('/v1/snap');
  t.match(last(), { status: 401, operation: 'list_registered_names', refusal: 'macaroon-authorization-required' });
  t.notOk('account' in last(), 'nobody is nobody');
  await store.anyone.get('/nowhere');
  t.match(last(), { status: 404, operation: 'none' });

  const { audit } = store.beside.records;
  const entries = await audit.list(0, 100);
  const entry = entries.find(({ action }) => action === 'register_name');
  t.match(
    entry,
    { actor: store.ids.ada, object: 'snap/hello', requestId: fine.headers.get('x-request-id') },
    'and the audit log names the request',
  );
});

// A publisher's own key, asked to be registered and shown once it is, as the older publishing tools do it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { accountKeyRequest } from '#assertions/keys/account-key-request.ts';
import { mediaType, stream, type Assertion } from '#assertions/format/assertion.ts';
import { chain, vectorKey, vectorSigner } from '#test/assertions/vectors.ts';
import * as world from '#test/assertions/world.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { addBrand, addOnlineBrand, addSigningKey, trustingVectors } from '#test/fixtures/brands.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { larder } from '../../cli/world.ts';

const { now } = world;
const path = '/dev/api/account/account-key';
const { id: keyId } = vectorKey('rsa2048-a');

const requestOf = (accountId: string, revision = 0, since = '2026-03-01T12:00:00Z'): Promise<string> =>
  accountKeyRequest({
    signer: vectorSigner(),
    keyId,
    accountId,
    name: 'default',
    since: new Date(since),
    revision,
    signedAt: new Date('2026-03-01T12:00:00Z'),
  });

const refused = (status: number, code: string, message: RegExp) => ({
  status,
  body: { error_list: [{ code, message }] },
});

t.test('a request is verified, stored, and shown to the administrator who takes it to the online store', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada', { permissions: ['account-manage-keys'] });
  const text = await requestOf(store.ids.ada);
  for (const prefix of ['', '/publishergw']) {
    t.match(await ada.post(`${prefix}${path}`, { account_key_request: text, extra: 1 }), {
      status: 202,
      body: { 'public-key-sha3-384': keyId },
    });
  }
  const exported = await larder(`assertion export account-key-request ${keyId} --data ${store.directory}`);
  t.match(exported, { code: 0 });
  t.ok(exported.out.includes(text.trimEnd()), 'as it was sent');

  const before = footprint(store.directory);
  const changed = text.replace('name: default', 'name: another');
  const other = await requestOf(store.ids.bob);
  const foreign = chain.assertions['store-account-key'] ?? '';
  for (const [sent, message] of [
    [changed, /changed after it was signed/],
    [other, /a key of another account/],
    [foreign, /of type account-key, not an account-key-request/],
    ['nonsense', /./],
    ['', /./],
  ] as const) {
    t.match(await ada.post(path, { account_key_request: sent }), refused(400, 'api-error', message));
  }
  t.match(await ada.post(path, {}), refused(400, 'api-error', /'account_key_request' is a required property/));
  const later = await requestOf(store.ids.ada, 0, '2026-04-01T12:00:00Z');
  t.match(await ada.post(path, { account_key_request: later }), refused(409, 'conflict', /waits here/));
  t.same(footprint(store.directory), before, 'and nothing of it stays');
  const newer = await requestOf(store.ids.ada, 1, '2026-04-01T12:00:00Z');
  t.match(await ada.post(path, { account_key_request: newer }), { status: 202 }, 'a newer revision takes its place');

  const viewer = await store.as('ada', { permissions: ['package-view'] });
  t.match(
    await viewer.post(path, { account_key_request: text }),
    refused(403, 'permission-required', /account-manage-keys/),
  );
  t.same((await (await store.as('ada')).get('/dev/api/account')).body.account_keys, [], 'asked is not registered');
});

t.test('a key that the online store has registered is shown with the account', async (t) => {
  const store = await startStore(t, trustingVectors(t));
  store.clock.now = now;
  await addOnlineBrand(store, 'my-brand');
  const own = await addSigningKey(store, 'my-brand', 'rsa4096-a', 'default');
  const brand = await store.as('my-brand');
  const text = ['store-account-key', 'brand-account', 'brand-account-key']
    .map((name) => chain.assertions[name] ?? '')
    .join('\n');
  t.match(await brand.post('/v1/brand/my-brand/assertions', text, { 'content-type': mediaType }), { status: 201 });
  t.match((await brand.get('/dev/api/account')).body.account_keys, [{ name: 'default', 'public-key-sha3-384': own }]);
});

t.test('a registered key of a publisher is imported and shown, and its signatures are trusted', async (t) => {
  const roots = join(t.testdir({ 'roots.assert': stream(world.roots.assertions) }), 'roots.assert');
  const store = await startStore(t, (text) => text.replace(/^# trusted = .*$/m, `trusted = ["${roots}"]`));
  store.clock.now = now;
  const { ada } = store.ids;
  const imported = async (...assertions: Assertion[]) => {
    writeFileSync(join(store.directory, 'return.assert'), stream(assertions));
    return larder(`assertion import ${join(store.directory, 'return.assert')} --data ${store.directory} --json`);
  };

  // snapcraft register-key: a login for this alone, the account's id, the request.
  const registering = await store.as('ada', { permissions: ['account-manage-keys'] });
  t.match(await registering.get('/dev/api/account'), { status: 200, body: { account_id: ada, account_keys: [] } });
  const request = await requestOf(ada);
  t.match(await registering.post(path, { account_key_request: request }), { status: 202 });

  // It is exported; the imported assertion must be for this account and by the requested name.
  const others = await world.accountKey('device', store.ids.bob, 'default');
  const renamed = await world.accountKey('device', ada, 'renamed');
  const prerequisites = [world.storeKey, await world.account(ada), await world.account(store.ids.bob)];
  t.match(await imported(...prerequisites, others), { code: 1, err: /its key belongs to '\w{32}' here, not to/ });
  t.match(await imported(...prerequisites, renamed), { code: 1, err: /its key has the name 'default' here/ });
  const returned = await world.accountKey('device', ada, 'default');
  t.match(await imported(...prerequisites, returned), { code: 0 });
  t.match((await registering.get('/dev/api/account')).body, {
    'account-keys': [{ name: 'default', 'public-key-sha3-384': keyId }],
    account_keys: [{ name: 'default', 'public-key-sha3-384': keyId }],
  });

  const build = await world.made('device', ada, 'snap-build', {
    'snap-sha3-384': keyId,
    'snap-id': 'a'.repeat(32),
    'snap-size': '4096',
    grade: 'stable',
    timestamp: world.timestamp,
  });
  t.match(await imported(build), { code: 0, out: /snap-build/ });
  t.match(await imported(await world.accountKey('second', store.ids.bob, 'own')), { code: 0 }, 'a root vouches for it');
});

t.test('an assertion for a brand over HTTP is for a key of the brand, or for a request of a publisher', async (t) => {
  const roots = join(t.testdir({ 'roots.assert': stream(world.roots.assertions) }), 'roots.assert');
  const store = await startStore(t, (text) => text.replace(/^# trusted = .*$/m, `trusted = ["${roots}"]`));
  store.clock.now = now;
  await addBrand(store, 'ada');
  const { ada } = store.ids;
  const client = await store.as('ada');
  const returned = stream([world.storeKey, await world.account(ada), await world.accountKey('device', ada, 'default')]);
  const send = () => client.post(`/v1/brand/${ada}/assertions`, returned, { 'content-type': mediaType });
  t.match(await send(), { status: 400, body: { 'error-list': [{ message: /there is no key request for it/ }] } });
  t.match(await client.post(path, { account_key_request: await requestOf(ada) }), { status: 202 });
  t.match(await send(), { status: 201 });
});

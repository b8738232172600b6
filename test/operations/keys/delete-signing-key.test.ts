import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { mediaType, parseAssertion } from '#assertions/format/assertion.ts';
import { checkSignature } from '#assertions/chain.ts';
import { decodePublicKey } from '#assertions/format/openpgp.ts';
import { bytesOf } from '#test/fixtures/records/behind.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { startTwoOfEverything } from '#test/fixtures/two-of-everything.ts';
import { cpuWatch } from '#test/fixtures/cpu.ts';

const refusal = (status: number, code: string, message: RegExp | string = /.{10,}/) => ({
  status,
  body: { 'error-list': [{ code, message }] },
});

t.test('a signing key is made, listed and deleted, and its private half is nowhere to be read', async (t) => {
  const { store, brand: id, bobId } = await startTwoOfEverything(t);
  const keys = `/v1/brand/${id}/signing_key`;
  const bob = await store.as('bob', { permissions: ['account-manage-keys'] });
  const made = await bob.post(keys, { name: 'default' });
  t.equal(made.status, 201);
  t.match(made.body, {
    'brand-account-id': id,
    fingerprint: /^[0-9A-F]{40}$/,
    name: 'default',
    'sha3-384': /^[\w-]{64}$/,
    'created-by': { id: bobId },
    'modified-at': null,
    'modified-by': null,
  });
  t.same((await bob.get(keys)).body, [made.body]);
  t.same((await bob.get(`${keys}?fields=name`)).body, [{ name: 'default' }]);
  t.match(await bob.post(keys, { name: 'default' }), refusal(409, 'conflict'));
  for (const name of ['', 'Default', '1', 'a--b', '-a', '-'.repeat(128), 'x'.repeat(129)]) {
    t.match(await bob.post(keys, { name }), refusal(400, 'api-error'), name);
  }

  const cpu = cpuWatch();
  const dashes = await bob.post(keys, { name: `${'1-'.repeat(63)}1!` });
  t.match(dashes, refusal(400, 'api-error'));
  t.ok(cpu() < 1000, 'a name that a careless expression would think about for ever costs nothing');

  const signingKey = await store.beside.records.signingKeys.find(made.body['sha3-384']);
  const everything = [
    ...store.log,
    JSON.stringify(await store.beside.records.audit.list(0, 1000)),
    bytesOf(store.directory).toString('latin1'),
  ].join('\n');
  t.match(signingKey?.sealed, /^larder-sealed-key\/1 aes-256-gcm /);
  t.notMatch(
    everything,
    /PRIVATE KEY|MIIJQg|MIIJRA|MIIJQw/,
    'neither PEM nor the beginning of a PKCS #8 key of 4096 bits',
  );
  t.notMatch(everything, readFileSync(join(store.directory, 'master.key'), 'utf8').trim());

  const path = `${keys}/${made.body['sha3-384']}`;
  t.match(await (await store.as('carol')).delete(path), refusal(404, 'resource-not-found'));
  t.match(
    await (await store.as('ada', { permissions: ['account-manage-metadata'] })).delete(path),
    refusal(401, 'permission-required'),
  );
  const gone = await bob.delete(path);
  t.same([gone.status, gone.body], [204, '']);
  t.match(await bob.delete(path), refusal(404, 'resource-not-found'));
  t.match(await bob.post(`${path}/account-key-request`, {}), refusal(404, 'resource-not-found'));
  t.same((await bob.get(keys)).body, []);
});

t.test('a key of another brand is not there', async (t) => {
  const store = await startStore(t);
  const id = await addBrand(store, 'ada');
  const bobs = await addSigningKey(store, await addBrand(store, 'bob'), 'rsa4096-b', 'default');
  const ada = await store.as('ada');
  t.match(await ada.delete(`/v1/brand/${id}/signing_key/${bobs}`), refusal(404, 'resource-not-found'));
  t.match(
    await ada.post(`/v1/brand/${id}/signing_key/${bobs}/account-key-request`),
    refusal(404, 'resource-not-found'),
  );
  t.equal((await (await store.as('bob')).get(`/v1/brand/${store.ids.bob}/signing_key`)).body.length, 1);
});

t.test('the request for a key is an assertion that the key itself signed', async (t) => {
  const store = await startStore(t);
  const id = await addBrand(store, 'ada');
  const ada = await store.as('ada');
  const key = await addSigningKey(store, id, 'rsa4096-a', 'default');
  const path = `/v1/brand/${id}/signing_key/${key}/account-key-request`;
  const { status, body } = await ada.post(path);
  t.equal(status, 200);
  const request = parseAssertion(body['account-key-request']);
  t.match(request.headers, {
    'public-key-sha3-384': key,
    'account-id': id,
    name: 'default',
    since: '2026-03-01T12:00:00Z',
  });
  checkSignature(request, decodePublicKey(request.body));

  const bare = await ada.post(
    path,
    { since: '2026-04-01T00:00:00+02:00', until: '2027-01-01T00:00:00Z' },
    { accept: mediaType },
  );
  t.equal(bare.headers.get('content-type'), mediaType);
  t.match(bare.headers.get('content-disposition'), 'attachment; filename="default.account-key-request"');
  t.match(parseAssertion(bare.body).headers, { since: '2026-03-31T22:00:00Z', until: '2027-01-01T00:00:00Z' });
  t.equal((await ada.post(path, { until: null })).status, 200);
  for (const wrong of [
    { until: '2026-02-01T00:00:00Z' },
    { since: 'now' },
    { since: null },
    { until: 7 },
    { name: 'other' },
  ]) {
    t.match(await ada.post(path, wrong), refusal(400, 'api-error'), JSON.stringify(wrong));
  }
});

t.test('without the master key the store is sealed: it reads, and refuses to sign', async (t) => {
  const store = await startStore(t);
  const id = await addBrand(store, 'ada');
  const key = await addSigningKey(store, id, 'rsa4096-a', 'default');
  const keys = `/v1/brand/${id}/signing_key`;
  const ada = await store.as('ada');
  t.equal((await ada.post(`${keys}/${key}/account-key-request`)).status, 200);
  rmSync(join(store.directory, 'master.key'));
  await store.restart();

  t.match(await ada.post(`${keys}/${key}/account-key-request`), refusal(503, 'sealed', /master key/));
  t.match(await ada.post(keys, { name: 'second' }), refusal(503, 'sealed', /master key/));
  t.match((await ada.get(keys)).body, [{ name: 'default' }]);
  t.equal(
    (await ada.post(`/v1/brand/${id}/model`, { name: 'pump', series: '16' })).status,
    201,
    'what needs no key goes on',
  );
  t.equal((await store.anyone.get('/healthz')).status, 200);
  t.match((await store.anyone.get('/readyz')).body.problems, [/sealed/]);
});

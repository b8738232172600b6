import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { startTwoOfEverything } from '#test/fixtures/two-of-everything.ts';

const refusal = (status: number, code: string, message: RegExp | string = /.{10,}/) => ({
  status,
  body: { 'error-list': [{ code, message }] },
});

t.test('a model is created, listed, changed and deleted', async (t) => {
  const { store, brand, otherBrand } = await startTwoOfEverything(t);
  const models = `/v1/brand/${brand}/model`;
  const bob = await store.as('bob');
  t.same((await bob.get(models)).body, []);
  await bob.post(`/v1/brand/${otherBrand}/model`, { name: 'pump', series: '18' });

  const pump = {
    'api-key': null,
    'brand-account-id': brand,
    name: 'pump',
    series: '16',
    'created-at': '2026-03-01T12:00:00.000Z',
    'created-by': {
      'display-name': 'Bob',
      email: 'bob@example.com',
      id: store.ids.bob,
      username: 'bob',
      validation: 'unproven',
    },
    'modified-at': null,
    'modified-by': null,
  };
  const created = await bob.post(models, { name: 'pump', series: '16' });
  t.same([created.status, created.body], [201, pump]);
  t.match(await bob.post(models, { name: 'mill-2', series: '16', 'api-key': 'k3y!' }), {
    status: 201,
    body: { 'api-key': 'k3y!' },
  });
  t.match(await bob.get(models), { status: 200, body: [{ name: 'mill-2' }, pump] });
  t.same((await bob.get(`${models}?fields=name,api-key`)).body, [
    { name: 'mill-2', 'api-key': 'k3y!' },
    { name: 'pump', 'api-key': null },
  ]);
  t.match((await bob.get(`${models}?fields=`)).body, [{ name: 'mill-2', series: '16' }, pump]);

  store.clock.advance(5000);
  const modified = { 'modified-at': '2026-03-01T12:00:05.000Z', 'modified-by': { username: 'root' } };
  const root = await store.as('root', { permissions: ['store-manage'] });
  t.match(await root.patch(`${models}/pump`, { 'api-key': 'one' }), {
    status: 200,
    body: { 'api-key': 'one', series: '16', ...modified },
  });
  t.match(await bob.patch(`${models}/pump`, { series: '18' }), {
    status: 200,
    body: { 'api-key': 'one', series: '18' },
  });
  t.match(
    await bob.patch(`${models}/pump`, { 'api-key': '' }),
    { status: 200, body: { 'api-key': null } },
    'an empty key takes it away',
  );

  const gone = await bob.delete(`${models}/pump`);
  t.same([gone.status, gone.body], [204, '']);
  t.same((await bob.get(`${models}?fields=name`)).body, [{ name: 'mill-2' }]);
  t.match((await bob.get(`/v1/brand/${otherBrand}/model`)).body, [{ name: 'pump', series: '18' }], 'the other brand');
});

t.test('an invalid model is refused, and nothing of it is stored', async (t) => {
  const store = await startStore(t);
  const models = `/v1/brand/${await addBrand(store, 'ada')}/model`;
  const ada = await store.as('ada');
  await ada.post(models, { name: 'pump', series: '16' });
  const before = (await ada.get(models)).body;

  t.match(
    await ada.post(models, { name: 'pump', series: '16' }),
    refusal(409, 'conflict', "The brand has a model 'pump' already."),
  );
  for (const name of [
    '',
    'Pump',
    '-pump',
    'pump-',
    'pu--mp',
    'pümp',
    'a/b',
    'pump\n',
    '-'.repeat(128),
    'x'.repeat(129),
  ]) {
    t.match(await ada.post(models, { name, series: '16' }), refusal(400, 'api-error'), JSON.stringify(name));
  }
  for (const body of [
    { name: 'x' },
    { series: '16' },
    { name: 'x', series: 16 },
    { name: 'x', series: '' },
    { name: 'x', series: '16', 'api-key': 'with space' },
    { name: 'x', series: '16', 'api-key': 'ä' },
    { name: 'x', series: '16', 'api-key': null },
    { name: 'x', series: '16', more: 1 },
  ]) {
    t.match(await ada.post(models, body), refusal(400, 'api-error'), JSON.stringify(body));
  }
  for (const body of [{ name: 'other' }, { 'api-key': null }, { 'api-key': 'x'.repeat(257) }, { series: '' }]) {
    t.match(await ada.patch(`${models}/pump`, body), refusal(400, 'api-error'), JSON.stringify(body));
  }
  t.match(await ada.patch(`${models}/mill`, { series: '16' }), refusal(404, 'resource-not-found'));
  t.match(await ada.delete(`${models}/mill`), refusal(404, 'resource-not-found'));
  t.same((await ada.get(models)).body, before);
});

t.test('a model that is in use stays', async (t) => {
  const store = await startStore(t);
  const id = await addBrand(store, 'ada');
  const brand = `/v1/brand/${id}`;
  const ada = await store.as('ada');
  const key = await addSigningKey(store, id, 'rsa4096-a', 'default');
  for (const name of ['pump', 'mill']) await ada.post(`${brand}/model`, { name, series: '16' });
  const policy = `${brand}/model/pump/serial_policy`;
  t.equal((await ada.post(policy, { 'signing-key-sha3-384': key })).status, 201);
  t.match(await ada.delete(`${brand}/model/pump`), refusal(409, 'conflict', /serial policies/));
  t.equal((await ada.delete(`${policy}/1`)).status, 204);

  const remodel = { 'from-model': 'pump', 'from-serial': null, 'to-model': 'mill' };
  await ada.post(`${brand}/remodel-allowlist`, { allowlist: [{ ...remodel, description: null }] });
  for (const name of ['pump', 'mill']) {
    t.match(await ada.delete(`${brand}/model/${name}`), refusal(409, 'conflict', /remodel allowlist/));
  }
  await ada.post(`${brand}/remodel-allowlist/delete`, { allowlist: [remodel] });
  for (const name of ['pump', 'mill']) t.equal((await ada.delete(`${brand}/model/${name}`)).status, 204);
});

t.test('the models of a brand belong to that brand alone', async (t) => {
  const store = await startStore(t);
  const adas = `/v1/brand/${await addBrand(store, 'ada')}/model`;
  const bobs = `/v1/brand/${await addBrand(store, 'bob')}/model`;
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  t.equal((await ada.post(adas, { name: 'pump', series: '16' })).status, 201);
  t.equal((await bob.post(bobs, { name: 'pump', series: '16' })).status, 201, 'each brand has names of its own');
  t.match(await bob.get(adas), refusal(404, 'resource-not-found'));
  t.match(await bob.patch(`${adas}/pump`, { series: '18' }), refusal(404, 'resource-not-found'));
  t.match(await bob.delete(`${adas}/pump`), refusal(404, 'resource-not-found'));

  const reader = await store.as('root', { permissions: ['store-view'] });
  t.equal((await reader.get(adas)).status, 200);
  t.match(await reader.delete(`${adas}/pump`), refusal(401, 'permission-required'));
  t.match(
    await (await store.as('ada', { permissions: ['account-manage-keys'] })).delete(`${adas}/pump`),
    refusal(401, 'permission-required'),
  );
  t.equal((await ada.get(adas)).body.length, 1);
});

t.test('the audit log records each change, without any api-key', async (t) => {
  const store = await startStore(t);
  const models = `/v1/brand/${await addBrand(store, 'ada')}/model`;
  const ada = await store.as('ada');
  await ada.post(models, { name: 'pump', series: '16', 'api-key': 'verysecretkey' });
  await ada.patch(`${models}/pump`, { 'api-key': 'othersecretkey' });
  await ada.delete(`${models}/pump`);
  const rows = (await store.beside.records.audit.list(0, 1000)).filter(({ object }) => object.endsWith('/model/pump'));
  t.same(
    rows.map(({ action }) => action),
    ['create_model', 'update_model', 'delete_model'],
  );
  t.notMatch(JSON.stringify(rows), /secretkey/);
  t.notMatch(store.log.join(''), /secretkey/);
});

import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { startTwoOfEverything } from '#test/fixtures/two-of-everything.ts';

const refusal = (status: number, code: string, message: RegExp | string = /.{10,}/) => ({
  status,
  body: { 'error-list': [{ code, message }] },
});

t.test('serial policies are numbered per model, newest first, and no number comes twice', async (t) => {
  const { store, brand: id, bobId } = await startTwoOfEverything(t);
  const bob = await store.as('bob');
  const [firstKey, two] = [
    await addSigningKey(store, id, 'rsa4096-a', 'one'),
    await addSigningKey(store, id, 'rsa4096-b', 'two'),
  ];
  await bob.post(`/v1/brand/${id}/model`, { name: 'pump', series: '16' });
  const policies = `/v1/brand/${id}/model/pump/serial_policy`;
  t.same((await bob.get(policies)).body, []);
  const first = await bob.post(policies, { 'signing-key-sha3-384': firstKey });
  t.same(
    [first.status, first.body],
    [
      201,
      {
        authority: id,
        'created-at': '2026-03-01T12:00:00.000Z',
        'created-by': bobId,
        'model-name': 'pump',
        revision: 1,
        'signing-key-sha3-384': firstKey,
      },
    ],
  );
  t.match(await bob.post(policies, { 'signing-key-sha3-384': two }), { status: 201, body: { revision: 2 } });
  t.match(await bob.get(policies), {
    status: 200,
    body: [{ revision: 2, 'signing-key-sha3-384': two }, { revision: 1 }],
  });

  for (const key of [firstKey, two]) {
    t.match(
      await bob.delete(`/v1/brand/${id}/signing_key/${key}`),
      refusal(409, 'conflict', /used to sign at least one serial policy/),
    );
  }
  const gone = await bob.delete(`${policies}/2`);
  t.same([gone.status, gone.body], [204, '']);
  t.match(await bob.delete(`${policies}/2`), refusal(404, 'resource-not-found'));
  t.match(await bob.post(policies, { 'signing-key-sha3-384': two }), { status: 201, body: { revision: 3 } });
  for (const revision of ['3', '1']) t.equal((await bob.delete(`${policies}/${revision}`)).status, 204);
  t.same((await bob.get(policies)).body, []);
  for (const key of [firstKey, two]) t.equal((await bob.delete(`/v1/brand/${id}/signing_key/${key}`)).status, 204);
});

t.test('a serial policy needs a model and a key of the same brand', async (t) => {
  const store = await startStore(t);
  const id = await addBrand(store, 'ada');
  const bobs = await addSigningKey(store, await addBrand(store, 'bob'), 'rsa4096-b', 'default');
  const ada = await store.as('ada');
  const key = await addSigningKey(store, id, 'rsa4096-a', 'default');
  await ada.post(`/v1/brand/${id}/model`, { name: 'pump', series: '16' });
  const policies = (model: string) => `/v1/brand/${id}/model/${model}/serial_policy`;
  t.match(
    await ada.post(policies('mill'), { 'signing-key-sha3-384': key }),
    refusal(404, 'resource-not-found', /no model 'mill'/),
  );
  t.match(
    await ada.post(policies('pump'), { 'signing-key-sha3-384': bobs }),
    refusal(404, 'resource-not-found', /no signing key/),
  );
  t.match(
    await ada.post(policies('pump'), { 'signing-key-sha3-384': 'A'.repeat(64) }),
    refusal(404, 'resource-not-found'),
  );
  for (const body of [
    {},
    { 'signing-key-sha3-384': 'x' },
    { 'signing-key-sha3-384': null },
    { 'signing-key-sha3-384': key, revision: 7 },
  ]) {
    t.match(await ada.post(policies('pump'), body), refusal(400, 'api-error'));
  }
  t.match(await ada.get(policies('mill')), refusal(404, 'resource-not-found'));
  for (const revision of ['0', '1', '01', 'x', '1e0', '99999999999', '1;']) {
    t.match(await ada.delete(`${policies('pump')}/${revision}`), refusal(404, 'resource-not-found'), revision);
  }
  t.match(await (await store.as('bob')).get(policies('pump')), refusal(404, 'resource-not-found'));
  t.same((await ada.get(policies('pump'))).body, []);
});

import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';

const refusal = (status: number, code: string, message: RegExp | string = /.{10,}/) => ({
  status,
  body: { 'error-list': [{ code, message }] },
});

t.test('a brand can be renamed, and the log has the actor', async (t) => {
  const store = await startStore(t);
  const brand = `/v1/brand/${await addBrand(store, 'ada', ['bob'])}`;
  const bob = await store.as('bob', { permissions: ['account-manage-metadata'] });
  store.clock.advance(1000);
  const renamed = {
    'account-id': store.ids.ada,
    name: 'Pumps & Söhne',
    'created-at': '2026-03-01T12:00:00.000Z',
    'created-by': { id: store.ids.ada, username: 'ada' },
    'modified-at': '2026-03-01T12:00:01.000Z',
    'modified-by': { id: store.ids.bob, username: 'bob' },
  };
  t.match(await bob.patch(brand, { name: 'Pumps & Söhne' }), { status: 200, body: renamed });
  t.match(await bob.get(brand), { status: 200, body: renamed });
  t.same((await bob.get(`${brand}?fields=name,modified-at,nonsense`)).body, {
    name: 'Pumps & Söhne',
    'modified-at': '2026-03-01T12:00:01.000Z',
  });

  for (const body of [
    {},
    { name: '' },
    { name: ' ' },
    { name: null },
    { name: 'x'.repeat(257) },
    { name: 'a', id: 'b' },
  ]) {
    t.match(await bob.patch(brand, body), refusal(400, 'api-error'), JSON.stringify(body));
  }
  t.match(await (await store.as('bob', { permissions: ['account-manage-keys'] })).patch(brand, { name: 'x' }), {
    status: 401,
    body: { 'error-list': [{ code: 'permission-required' }] },
  });
  t.match(await bob.get(brand), { body: { name: 'Pumps & Söhne' } }, 'no refusal changed anything');
});

t.test('a brand is deleted once it has neither models nor keys', async (t) => {
  const store = await startStore(t);
  const id = await addBrand(store, 'ada', ['bob']);
  const brand = `/v1/brand/${id}`;
  const ada = await store.as('ada');
  const key = await addSigningKey(store, id, 'rsa4096-a', 'default');
  await ada.post(`${brand}/model`, { name: 'pump', series: '16' });

  t.match(await ada.delete(brand), refusal(409, 'conflict', /still has models/));
  t.equal((await ada.delete(`${brand}/model/pump`)).status, 204);
  t.match(await ada.delete(brand), refusal(409, 'conflict', /still has signing keys/));
  t.equal((await ada.delete(`${brand}/signing_key/${key}`)).status, 204);
  const gone = await ada.delete(brand);
  t.same([gone.status, gone.body], [204, '']);

  t.match(await ada.get(brand), refusal(404, 'resource-not-found'));
  t.match(await ada.delete(brand), refusal(404, 'resource-not-found'));
  t.equal((await ada.get('/v1/tokens/whoami')).status, 200, 'the account stays');
  await addBrand(store, 'ada');
  t.equal((await ada.get(brand)).status, 200, 'and can be a brand again');
  t.equal((await (await store.as('bob')).get(brand)).status, 404, 'without its former administrators');
});

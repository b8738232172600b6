import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { addBrand } from '#test/fixtures/brands.ts';

const person = (username: string, id: string) => ({
  'display-name': username.charAt(0).toUpperCase() + username.slice(1),
  email: `${username}@example.com`,
  id,
  username,
  validation: 'unproven',
});

t.test('a brand is shown to its administrators', async (t) => {
  const store = await startStore(t);
  const brand = await addBrand(store, 'ada', ['bob']);
  const body = {
    'account-id': brand,
    name: "ada's devices",
    'created-at': '2026-03-01T12:00:00.000Z',
    'created-by': person('ada', store.ids.ada),
    'modified-at': null,
    'modified-by': null,
  };
  for (const name of ['ada', 'bob', 'root']) {
    const reply = await (await store.as(name)).get(`/v1/brand/${brand}`);
    t.equal(reply.status, 200, name);
    t.same(reply.body, body, name);
  }
});

t.test('fields choose members', async (t) => {
  const store = await startStore(t);
  const brand = await addBrand(store, 'ada');
  const ada = await store.as('ada');
  t.same((await ada.get(`/v1/brand/${brand}?fields=name,account-id`)).body, {
    'account-id': brand,
    name: "ada's devices",
  });
  t.same((await ada.get(`/v1/brand/${brand}?fields=name,colour`)).body, { name: "ada's devices" });
  t.equal(Object.keys((await ada.get(`/v1/brand/${brand}?fields=`)).body).length, 6, 'an empty list means all');
});

t.test('an account without a brand is not found', async (t) => {
  const store = await startStore(t);
  const root = await store.as('root');
  for (const id of [store.ids.ada, 'nobody', 'x'.repeat(200), '%20', "'", '..%2f']) {
    const reply = await root.get(`/v1/brand/${id}`);
    t.match(reply, { status: id === '..%2f' ? 400 : 404 }, id.slice(0, 40));
  }
  t.match(await root.get(`/v1/brand/${store.ids.ada}`), {
    body: { 'error-list': [{ code: 'resource-not-found', message: /^Brand A+ not found/ }] },
  });
});

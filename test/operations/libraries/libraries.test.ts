// Charm libraries, as charmcraft creates, publishes and fetches them.
import t from 'tap';

import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';

const at = '/v1/charm/libraries';
const hash = 'a'.repeat(64);

async function withLibrary(
  t: Parameters<typeof startStore>[0],
  hidden = false,
): Promise<{ store: TestAppliance; ada: Client; id: string }> {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/charm', { name: 'hello', private: hidden });
  const id = (await ada.post(`${at}/hello`, { 'library-name': 'greeting' })).body['library-id'];
  return { store, ada, id };
}

const version = (api: number, patch: number, content = `LIBAPI=${api}`) => ({ api, patch, content, hash });

t.test('a library is created, published and fetched by any client', async (t) => {
  const { store, ada, id } = await withLibrary(t);
  t.match(id, /^[0-9a-f]{32}$/);
  t.same(
    (await ada.post(`${at}/hello`, { 'library-name': 'greeting' })).body,
    { 'library-id': id },
    'the same name, the same id',
  );
  const record = { api: 0, 'charm-name': 'hello', hash, 'library-id': id, 'library-name': 'greeting', patch: 1 };
  t.same((await ada.post(`${at}/hello/${id}`, version(0, 1))).body, record);
  t.match(await ada.post(`${at}/hello/${id}`, version(0, 1)), { status: 200 }, 'a retry is safe');
  for (const [api, patch] of [
    [0, 2],
    [1, 0],
  ] as const)
    t.match(await ada.post(`${at}/hello/${id}`, version(api, patch)), { status: 200 });
  t.match(await ada.post(`${at}/hello/${id}`, version(0, 2, 'other')), {
    status: 409,
    body: { 'error-list': [{ code: 'conflict' }] },
  });
  t.match(await ada.post(`${at}/hello/${id}`, version(0, 1)), { status: 409 });

  const { anyone } = store;
  t.same((await anyone.get(`${at}/hello/${id}?api=0&patch=1`)).body, { ...record, content: 'LIBAPI=0' });
  t.match((await anyone.get(`${at}/hello/${id}?api=0`)).body, { api: 0, patch: 2 });
  t.match((await anyone.get(`${at}/hello/${id}`)).body, { api: 1, patch: 0 });
  t.match(await anyone.get(`${at}/hello/${id}?api=7`), { status: 404 });
  t.match(await anyone.get(`${at}/other/${id}`), { status: 404 });
  const bulk = async (...items: object[]) =>
    ((await anyone.post(`${at}/bulk`, items)).body.libraries as { api: number; patch: number }[]).map(
      ({ api, patch }) => [api, patch],
    );
  t.same(await bulk(), [], 'who asks for nothing gets nothing');
  t.same(await bulk({ 'library-id': id }), [[1, 0]]);
  t.same(await bulk({ 'charm-name': 'hello', 'library-name': 'greeting', api: 0 }), [[0, 2]]);
  t.same(
    await bulk(
      { 'charm-name': 'hello' },
      { 'library-id': id, api: 0, patch: 1 },
      { 'library-id': 'x' },
      { 'charm-name': 'x' },
    ),
    [
      [1, 0],
      [0, 1],
    ],
  );
});

t.test('a failure with many libraries at once has no code', async (t) => {
  const { store } = await withLibrary(t);
  t.match(await store.anyone.post(`${at}/bulk`, [{}]), {
    status: 400,
    body: { 'error-list': [{ code: null, message: "Items need to include 'library_id' or 'package_id'" }] },
  });
  t.match(await store.anyone.post(`${at}/bulk`, {}), { status: 400, body: { 'error-list': [{ code: null }] } });
});

t.test('a private charm shows its libraries to its collaborators, and strangers publish none', async (t) => {
  const { store, ada, id } = await withLibrary(t, true);
  const bob = await store.as('bob');
  await ada.post(`${at}/hello/${id}`, version(0, 1));
  for (const [client, status, count] of [
    [ada, 200, 1],
    [bob, 404, 0],
    [store.anyone, 404, 0],
  ] as const) {
    t.equal((await client.get(`${at}/hello/${id}`)).status, status);
    t.equal((await client.post(`${at}/bulk`, [{ 'library-id': id }])).body.libraries.length, count);
  }
  t.match(await bob.post(`${at}/hello`, { 'library-name': 'more' }), { status: 404 });
  t.match(await bob.post(`${at}/hello/${id}`, version(0, 2)), { status: 404 });
  t.match(await store.anyone.post(`${at}/hello`, { 'library-name': 'more' }), { status: 401 });
  t.match(await ada.post(`${at}/hello`, { 'library-name': 'no-dashes' }), { status: 400 });
});

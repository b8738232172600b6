import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';

const names = (body: { results: { name: string }[] }): string[] => body.results.map(({ name }) => name);

t.test('an account lists its registered names in a namespace', async (t) => {
  const store = await startStore(t);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  t.same((await ada.get('/v1/snap')).body, { results: [] });
  for (const name of ['zebra', 'ant', 'mole']) await ada.post('/v1/snap', { name });
  await ada.post('/v1/charm', { name: 'horse' });
  await bob.post('/v1/snap', { name: 'fox' });
  t.same(names((await ada.get('/v1/snap')).body), ['ant', 'mole', 'zebra']);
  t.same(names((await ada.get('/v1/charm')).body), ['horse']);
  t.same(names((await bob.get('/v1/snap')).body), ['fox']);
  t.same(names((await ada.get('/v1/rock')).body), []);
  t.same(
    (await ada.get('/v1/snap')).body.results[0],
    (await ada.get('/v1/snap/ant')).body.metadata,
    'with the whole record',
  );
});

t.test('a store administrator lists own names only', async (t) => {
  const store = await startStore(t);
  await (await store.as('ada')).post('/v1/snap', { name: 'hello' });
  const root = await store.as('root');
  t.same((await root.get('/v1/snap')).body, { results: [] });
  t.same((await root.get('/v1/snap?include-collaborations=true')).body, { results: [] });
});

t.test('names of collaborations are listed on request', async (t) => {
  const store = await startStore(t);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  const { id } = (await ada.post('/v1/snap', { name: 'shared' })).body;
  await ada.post('/v1/snap', { name: 'alone' });
  await bob.post('/v1/snap', { name: 'own' });
  await addCollaborator(store, id, 'bob');
  for (const query of [
    '',
    '?include-collaborations=false',
    '?include-collaborations=',
    '?include-collaborations=yes',
  ]) {
    t.same(names((await bob.get(`/v1/snap${query}`)).body), ['own'], query);
  }
  t.same(names((await bob.get('/v1/snap?include-collaborations=true')).body).sort(), ['own', 'shared']);
  t.same(names((await bob.get('/v1/charm?include-collaborations=true')).body), []);
  t.same(names((await ada.get('/v1/snap?include-collaborations=true')).body), ['alone', 'shared'], 'each name once');
});

t.test('fields choose members', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  const keys = async (query: string): Promise<string[]> =>
    Object.keys((await ada.get(`/v1/snap${query}`)).body.results[0]).sort();
  t.same(await keys('?fields=name,private'), ['name', 'private']);
  t.same(await keys('?fields=name,nonsense'), ['name'], 'unknown names are ignored');
  t.same(await keys('?fields=%20name%20,%20id'), ['id', 'name']);
  t.same(await keys('?fields='), await keys(''), 'an empty list means all');
  t.same(await keys('?unknown=member'), await keys(''), 'unknown members of the query are ignored');
  t.equal((await keys('')).length, 18);
});

t.test('a token that names packages lists those alone', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  await ada.post('/v1/snap', { name: 'other' });
  const list = async (packages: { type: 'snap' | 'charm'; id?: string; name?: string }[]): Promise<string[]> =>
    names((await (await store.as('ada', { packages })).get('/v1/snap')).body);
  t.same(await list([{ type: 'snap', name: 'hello' }]), ['hello']);
  t.same(await list([{ type: 'snap', id }]), ['hello']);
  t.same(await list([{ type: 'charm', name: 'hello' }]), []);
  t.same(await list([]), []);
});

import t from 'tap';

import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';

t.test('a package returns all of its fields, and null only if clients accept it', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  const reply = await ada.get('/v1/snap/hello');
  t.equal(reply.status, 200);
  t.same(reply.body, {
    metadata: {
      authority: null,
      contact: null,
      'default-track': null,
      description: null,
      id,
      links: {},
      media: [],
      name: 'hello',
      private: false,
      publisher: {
        'display-name': 'Ada',
        email: 'ada@example.com',
        id: store.ids.ada,
        username: 'ada',
        validation: 'unproven',
      },
      status: 'registered',
      store: 'larder',
      summary: null,
      title: null,
      'track-guardrails': [],
      tracks: [
        {
          'automatic-phasing-percentage': null,
          'created-at': '2026-03-01T12:00:00.000Z',
          name: 'latest',
          'version-pattern': null,
        },
      ],
      type: 'snap',
      website: null,
    },
  });
});

t.test('publisher, collaborator and store administrator read the same', async (t) => {
  const store = await startStore(t);
  const [ada, bob, root] = [await store.as('ada'), await store.as('bob'), await store.as('root')];
  const { id } = (await ada.post('/v1/snap', { name: 'hello', private: true })).body;
  const { body } = await ada.get('/v1/snap/hello');
  t.same((await root.get('/v1/snap/hello')).body, body);
  t.equal((await bob.get('/v1/snap/hello')).status, 404);
  await addCollaborator(store, id, 'bob');
  t.same((await bob.get('/v1/snap/hello')).body, body);
});

t.test('being public shows a package to no stranger here', async (t) => {
  const store = await startStore(t);
  await (await store.as('ada')).post('/v1/snap', { name: 'hello', private: false });
  t.equal((await (await store.as('bob')).get('/v1/snap/hello')).status, 404);
});

t.test('fields choose members', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  t.same((await ada.get('/v1/snap/hello?fields=name,default-track,links')).body, {
    metadata: { name: 'hello', 'default-track': null, links: {} },
  });
  const all = (await ada.get('/v1/snap/hello')).body;
  t.same((await ada.get('/v1/snap/hello?fields=')).body, all);
  t.same((await ada.get('/v1/snap/hello?fields=nonsense,name')).body, { metadata: { name: 'hello' } });
  t.same((await ada.get('/v1/snap/hello?fields=toString,__proto__')).body, { metadata: {} });
  t.equal((await ada.get(`/v1/snap/hello?fields=${'name,'.repeat(500)}`)).status, 400, 'a list too long is refused');
});

t.test('the newest snap gives the icon and the fields that its publisher has not set', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  await ada.patch('/v1/snap/tiny-app', { summary: 'My own words' });
  t.match((await ada.push('snap', 'tiny-app', await snapFixture('app-xz'))).body.revisions, [{ status: 'approved' }]);
  const { metadata } = (await ada.get('/v1/snap/tiny-app')).body;
  t.equal(metadata.summary, 'My own words');
  t.type(metadata.description, 'string');
  t.equal(metadata.status, 'registered', 'published is what it is after its first release');
  for (const { type, url } of metadata.media) {
    t.equal(type, 'icon');
    t.match(url, /^http:\/\/127\.0\.0\.1:8080\/icons\//);
  }
});

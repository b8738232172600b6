import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { addCollaborator } from '#test/fixtures/packages/packages.ts';
import { footprint } from '#test/fixtures/footprint.ts';

const refused = (message: RegExp) => ({ status: 400, body: { 'error-list': [{ code: 'api-error', message }] } });

t.test('the metadata of a package can be changed, member by member', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  const first = await ada.patch('/v1/snap/hello', { title: 'Hello', summary: 'Says hello', description: 'At\nlength' });
  t.equal(first.status, 200);
  t.match(first.body, {
    metadata: { title: 'Hello', summary: 'Says hello', description: 'At\nlength', private: false },
  });
  t.match((await ada.patch('/v1/snap/hello', { private: true })).body.metadata, { title: 'Hello', private: true });
  t.same(
    (await ada.get('/v1/snap/hello')).body,
    (await ada.patch('/v1/snap/hello', {})).body,
    'an empty change changes nothing',
  );
  t.match(
    (await ada.patch('/v1/snap/hello', { title: '' })).body.metadata,
    { title: null, summary: 'Says hello' },
    'an empty text clears',
  );
});

t.test('a collaborator and a store administrator may change it too', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  await addCollaborator(store, id, 'bob');
  t.match(await (await store.as('bob')).patch('/v1/snap/hello', { title: 'By Bob' }), { status: 200 });
  t.match(await (await store.as('root')).patch('/v1/snap/hello', { summary: 'By root' }), { status: 200 });
  t.match((await ada.get('/v1/snap/hello')).body.metadata, {
    title: 'By Bob',
    summary: 'By root',
    publisher: { username: 'ada' },
  });
});

t.test('links have one source', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  const change = async (body: unknown) => (await ada.patch('/v1/snap/hello', body)).body.metadata;
  t.match(await change({ website: 'https://example.com/', contact: 'mailto:ada@example.com' }), {
    website: 'https://example.com/',
    contact: 'mailto:ada@example.com',
    links: { website: ['https://example.com/'], contact: ['mailto:ada@example.com'] },
  });
  t.match(
    await change({ links: { website: ['https://a.example', 'https://b.example'], docs: ['https://docs.example'] } }),
    {
      website: 'https://a.example',
      contact: 'mailto:ada@example.com',
      links: {
        website: ['https://a.example', 'https://b.example'],
        docs: ['https://docs.example'],
        contact: ['mailto:ada@example.com'],
      },
    },
  );
  t.same(
    (await change({ website: 'https://c.example' })).links.website,
    ['https://c.example'],
    'one value replaces the list',
  );
  const cleared = await change({ website: '', contact: '' });
  t.equal(cleared.website, null);
  t.equal(cleared.contact, null);
  t.same(cleared.links, { docs: ['https://docs.example'] });
  t.same((await change({ links: { docs: [] } })).links, {});
});

t.test('links have their limits', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  const before = (await ada.get('/v1/snap/hello')).body;
  const rows = footprint(store.directory);
  const long = `https://example.com/${'x'.repeat(1981)}`;
  for (const [body, message] of [
    [{ links: {}, contact: 'x' }, /^'links' must not be combined with 'contact'/],
    [{ links: {}, website: 'https://x.example' }, /^'links' must not be combined with 'website'/],
    [{ links: { blog: [] } }, /'blog' was unexpected\) at \/links$/],
    [{ links: { docs: 'https://x.example' } }, / at \/links\/docs$/],
    [{ links: { docs: [5] } }, /^5 is not of type string at \/links\/docs\/0$/],
    [{ links: { docs: ['1', '2', '3', '4', '5', '6'] } }, / at \/links\/docs$/],
    [{ links: { docs: [long] } }, / at \/links\/docs\/0$/],
    [{ links: null }, / at \/links$/],
    ...[
      'javascript:alert(1)',
      ' JAVA\nscript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
    ].flatMap((link) =>
      (['docs', 'donations', 'issues', 'source'] as const).map(
        (kind) =>
          [
            { links: { [kind]: ['https://fine.example', link] } },
            new RegExp(`may be run by a browser\\. .* at /links/${kind}/1$`),
          ] as const,
      ),
    ),
    [{ website: 'ftp://example.com' }, /^The website /],
    [{ website: 'example.com' }, /^The website /],
    [{ website: 'https:example.com' }, /^The website /],
    [{ website: ' https://example.com' }, /^The website /],
    [{ website: 'https://' }, /^The website /],
    [{ website: 'javascript:alert(1)' }, /^The website /],
    [{ links: { website: ['https://fine.example', 'nonsense'] } }, /^The website /],
    [{ links: { website: [''] } }, /^The website /],
    [{ website: null }, / at \/website$/],
    [{ contact: null }, / at \/contact$/],
    ...['javascript:alert(1)', 'ada@example.com', 'mailto:', 'data:text/html,x', 'ftp://x', ' mailto:a@b'].flatMap(
      (contact) =>
        [
          [{ contact }, /^The contact '.*' is not an address that begins with https:\/\/, http:\/\/ or mailto:\.$/],
          [{ links: { contact: ['https://fine.example', contact] } }, /^The contact /],
          [{ website: contact }, /^The website /],
        ] as const,
    ),
    [{ contact: `mailto:${'x'.repeat(1994)}` }, / at \/contact$/],
  ] as const) {
    t.match(await ada.patch('/v1/snap/hello', body), refused(message), JSON.stringify(body).slice(0, 80));
  }
  t.same((await ada.get('/v1/snap/hello')).body, before);
  t.same(footprint(store.directory), rows);
  for (const contact of [
    'https://example.com/ask',
    'http://example.com',
    'mailto:ada@example.com',
    `mailto:${'x'.repeat(1993)}`,
  ]) {
    t.match((await ada.patch('/v1/snap/hello', { contact })).body.metadata, { contact, links: { contact: [contact] } });
  }
  t.equal(
    (await ada.patch('/v1/snap/hello', { links: { docs: [long.slice(0, 2000), '', '3', '4', '5'] } })).status,
    200,
  );
});

t.test('texts have their limits', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  for (const [name, limit] of [
    ['title', 256],
    ['summary', 512],
    ['description', 65_536],
  ] as const) {
    t.equal((await ada.patch('/v1/snap/hello', { [name]: 'x'.repeat(limit) })).status, 200, `${name} of ${limit}`);
    t.match(
      await ada.patch('/v1/snap/hello', { [name]: 'x'.repeat(limit + 1) }),
      refused(new RegExp(` at /${name}$`)),
      name,
    );
    t.match(
      await ada.patch('/v1/snap/hello', { [name]: 5 }),
      refused(new RegExp(`^5 is not of type string at /${name}$`)),
      name,
    );
  }
  t.match(await ada.patch('/v1/snap/hello', { name: 'other' }), refused(/'name' was unexpected/));
  t.match(await ada.patch('/v1/snap/hello', { title: 'half \ud83d' }), refused(/surrogate/));
});

t.test('the default track must be a track of the package', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  t.match(
    await ada.patch('/v1/snap/hello', { 'default-track': '2.0' }),
    refused(/^'2\.0' is not a track of 'hello' at \/default-track$/),
  );
  t.match((await ada.patch('/v1/snap/hello', { 'default-track': 'latest' })).body.metadata, {
    'default-track': 'latest',
  });
  t.match((await ada.patch('/v1/snap/hello', { title: 'x' })).body.metadata, { 'default-track': 'latest' });
  t.match((await ada.patch('/v1/snap/hello', { 'default-track': null })).body.metadata, { 'default-track': null });
});

t.test('a charm may be changed with the macaroon in the payload, which is no member of the metadata', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/charm', { name: 'hello' });
  const { anyone } = store;
  t.match(await anyone.patch('/v1/charm/hello', { title: 'T', macaroon: ada.token }), {
    status: 200,
    body: { metadata: { title: 'T' } },
  });
  t.match(await anyone.patch('/v1/charm/hello', { title: 'T', macaroon: ada.token, colour: 1 }), refused(/'colour'/));
  t.match(await anyone.patch('/v1/charm/hello', { title: 'T' }), { status: 401 });
});

t.test('two changes at once are both kept', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  await Promise.all([
    ada.patch('/v1/snap/hello', { title: 'T' }),
    ada.patch('/v1/snap/hello', { summary: 'S' }),
    ada.patch('/v1/snap/hello', { description: 'D' }),
    ada.patch('/v1/snap/hello', { links: { docs: ['d'] } }),
    ada.patch('/v1/snap/hello', { links: { source: ['s'] } }),
  ]);
  t.match((await ada.get('/v1/snap/hello')).body.metadata, {
    title: 'T',
    summary: 'S',
    description: 'D',
    links: { docs: ['d'], source: ['s'] },
  });
});

t.test('text in any script is returned unchanged', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  for (const summary of ['ASCII alone', 'Grüße, café', '你好', '👋 to all']) {
    t.match(await ada.patch('/v1/snap/hello', { summary }), { status: 200, body: { metadata: { summary } } });
    t.match(await ada.get('/v1/snap/hello'), { body: { metadata: { summary } } });
  }
});

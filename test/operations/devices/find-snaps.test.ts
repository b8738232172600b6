// The results of a search for snaps on a device.
import t from 'tap';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { deviceHeaders, fields, servingSnaps } from '#test/fixtures/devices.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

type Test = Parameters<typeof startStore>[0];
type Details = NonNullable<Parameters<typeof addRevision>[3]>;

async function start(t: Test) {
  const store = await startStore(t, servingSnaps);
  const ada = await store.as('ada');
  let number = 0;
  /** A snap of ada's; each revision is one of its own, because a content says the same for ever. */
  const add = async (name: string, channels: Record<string, Details>, about: object = {}) => {
    const { id } = (await ada.post('/v1/snap', { name })).body;
    for (const [channel, details] of Object.entries(channels)) {
      await addRevision(store, id, ++number, details);
      const reply = await ada.post(`/v1/snap/${name}/releases`, [{ channel, revision: number }]);
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    }
    if (Object.keys(about).length > 0) {
      const reply = await ada.patch(`/v1/snap/${name}`, about);
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    }
    return id as string;
  };
  return { store, ada, add };
}

interface Found {
  name: string;
  revision: { channel: string; version: string };
}

const ask = ({ anyone }: TestAppliance, query: Record<string, string>, headers = {}) =>
  anyone.get(`/v2/snaps/find?${String(new URLSearchParams(query))}`, { ...deviceHeaders(), ...headers });

async function find(store: TestAppliance, query: Record<string, string>): Promise<string[]> {
  const reply = await ask(store, { fields: fields.join(), architecture: 'amd64', ...query });
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return reply.body.results.map(({ name }: Found) => name);
}

t.test('a snap is found by its name, title, publisher and summary, the best match first', async (t) => {
  const { store, add } = await start(t);
  await add('media-player', { stable: {} }, { summary: 'Plays films and music' });
  await add('jukebox', { stable: {} }, { title: 'Music Player', summary: 'Café sounds' });
  await add('sheet', { stable: {} }, { summary: 'Writes music' });
  await add('music', { stable: {} });
  t.same(await find(store, { q: 'music' }), ['music', 'jukebox', 'media-player', 'sheet']);
  t.same(await find(store, { q: 'MUSIC play' }), ['media-player', 'jukebox']);
  t.same(await find(store, { q: 'cafe' }), ['jukebox'], 'without accents');
  t.same(await find(store, { q: 'media-player' }), ['media-player']);
  t.same(await find(store, { q: 'ada' }), ['jukebox', 'media-player', 'music', 'sheet'], 'all of a publisher');
  t.same(await find(store, {}), ['jukebox', 'media-player', 'music', 'sheet'], 'everything');
  t.same(await find(store, { category: 'featured' }), ['jukebox', 'media-player', 'music', 'sheet']);
  t.same(await find(store, { category: 'games' }), []);
  t.same(await find(store, { name: 'm' }), ['media-player', 'music']);
  t.same(await find(store, { name: 'player' }), [], 'a name begins so');
  for (const q of [
    'nothing',
    'music nothing',
    '%',
    '_',
    '!!',
    ':',
    'name:music',
    "'; DROP",
    '\u{10ffff}',
    'x'.repeat(400),
  ])
    t.same(await find(store, { q }), [], q.slice(0, 20));
});

t.test('the result is the revision that an install gives, for the architecture, channel and confinement', async (t) => {
  const { store, ada, add } = await start(t);
  const root = await store.as('root');
  const arm = { details: { architectures: ['arm64'] } };
  const id = await add('hello', { 'latest/stable': {}, 'latest/edge': { version: '9' }, 'latest/beta': arm });
  await add('old', { candidate: { details: { confinement: 'classic' as const } } });
  await add('branchy', { 'edge/fix': {} });
  const reply = await ask(store, { q: 'hello', fields: fields.join(), channel: 'stable', architecture: 'amd64' });
  t.equal(reply.headers.get('content-type'), 'application/json');
  t.match(reply.body.results, [
    {
      name: 'hello',
      'snap-id': id,
      snap: { name: 'hello', publisher: { username: 'ada' }, private: false },
      revision: { channel: 'stable', version: 'v1', revision: 1, confinement: 'strict', download: { size: 1001 } },
    },
  ]);
  t.same(reply.body.results[0].revision.download, { size: 1001 }, 'and no address');
  t.notOk(JSON.stringify(reply.body).includes('example.com'), "nobody's e-mail address is told");

  const shown = async (query: Record<string, string>) =>
    (await ask(store, { architecture: 'amd64', fields: 'version', ...query })).body.results.map(
      ({ name, revision }: Found) => [name, revision.channel, revision.version].join(' '),
    );
  t.same(await shown({}), ['hello stable v1', 'old candidate v4'], 'the most stable of each');
  t.same(await shown({ channel: 'stable' }), ['hello stable v1']);
  t.same(await shown({ channel: 'edge' }), ['hello edge 9', 'old candidate v4']);
  t.same(await shown({ channel: 'latest/beta' }), ['hello stable v1', 'old candidate v4']);
  t.same(await shown({ architecture: 'arm64', channel: 'beta' }), ['hello beta v3', 'old candidate v4']);
  t.same(await shown({ confinement: 'strict' }), ['hello stable v1']);
  t.same(await shown({ confinement: 'strict,classic' }), ['hello stable v1', 'old candidate v4']);
  t.same(await shown({ confinement: 'nonsense' }), []);
  t.same(await shown({ private: 'true' }), []);
  t.match(await ask(store, { channel: '//' }), { status: 400, body: { 'error-list': [{ code: 'api-error' }] } });

  await root.post('/internal/v1/packages/snap/hello/guardrails', { pattern: '^[0-9]+$' });
  await ada.post('/v1/snap/hello/tracks', [{ name: '2' }]);
  await addRevision(store, id, 50);
  await ada.post('/v1/snap/hello/releases', [{ channel: '2/stable', revision: 50 }]);
  t.same(await shown({ q: 'hello', channel: '2/stable' }), ['hello 2/stable v50']);
  t.same(await shown({ q: 'hello', channel: 'stable' }), ['hello stable v1']);
  await ada.patch('/v1/snap/hello', { 'default-track': '2' });
  t.same(await shown({ q: 'hello', channel: 'stable' }), ['hello 2/stable v50']);
});

t.test('by what its apps are known as elsewhere', async (t) => {
  const { store, add } = await start(t);
  const packageYaml = "name: hello\nversion: '1'\napps:\n  hello:\n    common-id: org.example.Hello\n  other: {}\n";
  await add('hello', { stable: { packageYaml } });
  await add('other', { stable: {} });
  t.same(await find(store, { 'common-id': 'org.example.Hello' }), ['hello']);
  t.same(await find(store, { 'common-id': 'org.example' }), []);
  t.same(await find(store, { 'common-id': 'org.example.Hello', q: 'other' }), []);
});

t.test('a private, unreleased, closed or deleted snap is not found, from that moment on', async (t) => {
  const { store, ada, add } = await start(t);
  const secret = await add('secret', { stable: {} });
  await add('closed', { stable: {} });
  await add('broken', { stable: {} });
  await ada.post('/v1/snap', { name: 'unreleased' });
  await add('partly', { 'stable/fix': {} });
  t.same(await find(store, {}), ['broken', 'closed', 'secret']);
  t.equal((await ada.patch('/v1/snap/secret', { private: true })).status, 200);
  for (const query of [{}, { q: 'secret' }, { name: 'secret' }, { category: 'featured' }, { private: 'true' }])
    t.notOk((await find(store, query)).includes('secret'), JSON.stringify(query));
  const left = await store.beside.records.catalog.find({ words: [], places: [':at:all/stable/strict'], name: '' }, 9);
  t.notOk(left.includes(secret), 'nor is it kept');
  await ada.post('/v1/snap/closed/releases', [{ channel: 'stable', revision: null }]);
  await ada.post('/internal/v1/packages/snap/broken/revisions/3/withdraw', { reason: 'it loses data' });
  t.same(await find(store, {}), []);
  await ada.patch('/v1/snap/secret', { private: false });
  t.same(await find(store, {}), ['secret'], 'and may come back');
});

t.test('a client with a current copy is told so, and the result has the requested fields', async (t) => {
  const { store, ada, add } = await start(t);
  await add('hello', { stable: {} });
  const first = await ask(store, { q: 'hello', fields: 'version,nonsense,__proto__' });
  const [{ 'snap-id': id }] = first.body.results;
  const expected = { name: 'hello', 'snap-id': id, snap: {}, revision: { version: 'v1', channel: 'stable' } };
  t.same(first.body, { results: [expected] });
  const etag = first.headers.get('etag')!;
  t.equal(first.headers.get('cache-control'), 'max-age=60');
  const decides =
    'Snap-Device-Architecture, X-Ubuntu-Architecture, Snap-Device-Authorization, X-Device-Authorization, Authorization, Snap-Device-Store, X-Ubuntu-Store';
  t.equal(first.headers.get('vary'), decides);
  const info = await store.anyone.get('/v2/snaps/info/hello', deviceHeaders());
  t.equal(info.headers.get('content-type'), 'application/json');
  t.equal(info.headers.get('cache-control'), 'max-age=60');
  t.equal(info.headers.get('vary'), decides);
  const headers = { ...deviceHeaders(), 'if-none-match': info.headers.get('etag')! };
  t.equal((await store.anyone.get('/v2/snaps/info/hello', headers)).status, 304);
  const again = { 'if-none-match': etag };
  t.equal((await ask(store, { q: 'hello', fields: 'version' }, again)).status, 304);
  await addRevision(store, id, 2);
  await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 2 }]);
  t.equal((await ask(store, { q: 'hello', fields: 'version' }, again)).status, 200);
});

t.test('no response lists more than a hundred', async (t) => {
  const { store, ada, add } = await start(t);
  for (let number = 0; number < 105; number++) await add(`snap-${number}`, { stable: {} });
  t.equal((await find(store, {})).length, 100);
  t.equal((await find(store, { q: 'snap' })).length, 100);
  t.same(await find(store, { q: 'snap-104' }), ['snap-104']);
  await ada.patch('/v1/snap/snap-7', { summary: 'a rare word' });
  t.same(await find(store, { q: 'snap rare' }), ['snap-7'], 'also where another word names very many');
});

import t from 'tap';

import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

const channel = (risk: string, fallback: string | null, branch: string | null = null, track = 'latest') => ({
  branch,
  fallback,
  name: branch === null ? `${track}/${risk}` : `${track}/${risk}/${branch}`,
  risk,
  track,
});

t.test('a package that has released nothing lists its channels', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  const reply = await ada.get('/v1/snap/hello/releases?unknown=member');
  t.equal(reply.status, 200);
  t.same(reply.body, {
    'channel-map': [],
    package: {
      channels: [
        channel('stable', null),
        channel('candidate', 'latest/stable'),
        channel('beta', 'latest/candidate'),
        channel('edge', 'latest/beta'),
      ],
    },
    revisions: [],
  });
});

t.test('tracks follow one another, latest first, and open branches their risk', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/bin', { name: 'hello' })).body;
  await addRevision(store, id, 1);
  for (const [at, name] of [
    ['2026-01-02', 'b-track'],
    ['2026-01-01', 'z-track'],
    ['2026-01-03', '2.0'],
  ] as const) {
    await store.beside.records.change({ at, actor: 'test', action: 'track', object: 'bin/hello' }, (tx) =>
      tx.tracks.add(id, { name, versionPattern: null, automaticPhasingPercentage: null, createdAt: at }),
    );
  }
  await ada.post('/v1/bin/hello/releases', [
    { channel: '2.0/edge/fix', revision: 1 },
    { channel: 'beta/b', revision: 1 },
    { channel: 'beta/a', revision: 1 },
    { channel: '2.0/stable', revision: 1 },
    { channel: 'beta', revision: 1 },
  ]);
  const { body } = await ada.get('/v1/bin/hello/releases');
  const risks = (track: string): string[] => ['stable', 'candidate', 'beta', 'edge'].map((risk) => `${track}/${risk}`);
  t.same(
    (body.package.channels as { name: string }[]).map(({ name }) => name),
    [
      'latest/stable',
      'latest/candidate',
      'latest/beta',
      'latest/beta/a',
      'latest/beta/b',
      'latest/edge',
      ...risks('z-track'),
      ...risks('b-track'),
      ...risks('2.0'),
      '2.0/edge/fix',
    ],
  );
  t.match(
    body.package.channels.filter(({ branch }: { branch: string | null }) => branch !== null),
    [
      channel('beta', 'latest/beta', 'a'),
      channel('beta', 'latest/beta', 'b'),
      channel('edge', '2.0/edge', 'fix', '2.0'),
    ],
    'a branch falls back to its risk',
  );
  t.same(
    (body['channel-map'] as { channel: string }[]).map((entry) => entry.channel),
    ['latest/beta', 'latest/beta/a', 'latest/beta/b', '2.0/stable', '2.0/edge/fix'],
    'in the same spelling and order',
  );
});

t.test('each namespace has its variant of entries', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const base = { architecture: 'amd64', channel: '22.04', name: 'ubuntu' };
  const variants: Record<string, string[]> = {
    charm: ['base', 'channel', 'expiration-date', 'progressive', 'resources', 'revision', 'when'],
    sdk: ['base', 'channel', 'expiration-date', 'progressive', 'resources', 'revision', 'when'],
    source: ['base', 'channel', 'expiration-date', 'progressive', 'resources', 'revision', 'when'],
    snap: ['architecture', 'channel', 'expiration-date', 'progressive', 'revision', 'when'],
    bin: ['channel', 'expiration-date', 'revision', 'when'],
    rock: ['channel', 'expiration-date', 'revision', 'when'],
  };
  for (const [namespace, names] of Object.entries(variants)) {
    const { id } = (await ada.post(`/v1/${namespace}`, { name: 'hello' })).body;
    await addRevision(store, id, 1, {
      details: namespace === 'snap' ? { architectures: ['amd64'] } : { bases: [base] },
    });
    await ada.post(`/v1/${namespace}/hello/releases`, [{ channel: 'edge', revision: 1 }]);
    const { status, body } = await ada.get(`/v1/${namespace}/hello/releases`);
    t.equal(status, 200, namespace);
    const [entry] = body['channel-map'];
    t.same(Object.keys(entry).sort(), names, namespace);
    t.match(entry, { channel: 'latest/edge', revision: 1, 'expiration-date': null, when: '2026-03-01T12:00:00.000Z' });
    if (names.includes('progressive')) t.same(entry.progressive, { paused: null, percentage: null });
    if (names.includes('base')) t.same(entry.base, base);
    if (names.includes('resources')) t.same(entry.resources, []);
    t.equal(
      'craft-channel-map' in body,
      namespace === 'sdk' || namespace === 'source',
      `${namespace}: craft-channel-map`,
    );
  }
});

t.test('a revision without a base has the entry of none', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/charm', { name: 'hello' })).body;
  await addRevision(store, id, 1);
  await ada.post('/v1/charm/hello/releases', [{ channel: 'edge', revision: 1 }]);
  t.same((await ada.get('/v1/charm/hello/releases')).body['channel-map'][0].base, null);
});

t.test('the revisions are those in the map, each once, with the full record', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  for (const name of ['app-xz', 'app-gzip', 'app-zstd']) await ada.push('snap', 'tiny-app', await snapFixture(name));
  await ada.post('/v1/snap/tiny-app/releases', [
    { channel: 'edge', revision: 3 },
    { channel: 'beta', revision: 1 },
    { channel: 'stable', revision: 1 },
  ]);
  const { revisions } = (await ada.get('/v1/snap/tiny-app/releases')).body;
  t.match(revisions, [{ revision: 3 }, { revision: 1 }]);
  t.equal(revisions.length, 2);
  t.match(revisions[0], {
    apps: ['run', 'other'],
    architectures: ['amd64'],
    base: 'core22',
    'build-url': null,
    confinement: 'strict',
    'created-at': '2026-03-01T12:00:00.000Z',
    'created-by': store.ids.ada,
    grade: 'stable',
    'sha3-384': /^[0-9a-f]{96}$/,
    size: 4096,
    status: 'released',
    type: 'app',
    version: '1.10',
  });
});

import t from 'tap';

import { snapFixture, startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { addCollaborator, addRevision } from '#test/fixtures/packages/packages.ts';

const refused = (message: RegExp | string) => ({
  status: 400,
  body: { 'error-list': [{ code: 'api-error', message }] },
});

interface Entry {
  channel: string;
  revision: number;
  architecture?: string;
  'expiration-date': string | null;
}

const map = async (client: Client, path: string): Promise<Entry[]> =>
  (await client.get(`${path}/releases`)).body['channel-map'] as Entry[];
const held = async (client: Client, path: string): Promise<string[]> =>
  (await map(client, path)).map(({ channel, revision }) => `${channel}=${revision}`);

async function withRevisions(
  store: TestAppliance,
  namespace: string,
  count: number,
): Promise<{ ada: Client; id: string; path: string }> {
  const ada = await store.as('ada');
  const { id } = (await ada.post(`/v1/${namespace}`, { name: 'hello' })).body as { id: string };
  for (let number = 1; number <= count; number++) await addRevision(store, id, number);
  return { ada, id, path: `/v1/${namespace}/hello` };
}

t.test('a revision is released to a channel, and a risk alone means the latest track', async (t) => {
  const store = await startStore(t);
  const { ada, path } = await withRevisions(store, 'bin', 2);
  const reply = await ada.post(`${path}/releases`, [
    { channel: 'edge', revision: 2 },
    { channel: 'latest/stable', revision: 1 },
  ]);
  t.equal(reply.status, 200);
  t.same(reply.body, {
    released: [
      { channel: 'latest/edge', revision: 2, resources: [] },
      { channel: 'latest/stable', revision: 1, resources: [] },
    ],
  });
  t.same(await held(ada, path), ['latest/stable=1', 'latest/edge=2']);
  await ada.post(`${path}/releases`, [{ channel: 'latest/edge', revision: 1 }]);
  t.same(await held(ada, path), ['latest/stable=1', 'latest/edge=1'], 'a release replaces what was there');
});

t.test('a null revision closes the channel', async (t) => {
  const store = await startStore(t);
  const { ada, path } = await withRevisions(store, 'bin', 1);
  await ada.post(`${path}/releases`, [
    { channel: 'edge', revision: 1 },
    { channel: 'beta', revision: 1 },
  ]);
  const reply = await ada.post(`${path}/releases`, [{ channel: 'latest/edge', revision: null }]);
  t.same(reply.body, { released: [{ channel: 'latest/edge', revision: null, resources: [] }] });
  t.same(await held(ada, path), ['latest/beta=1']);
  t.match(
    await ada.post(`${path}/releases`, [{ channel: 'edge', revision: null }]),
    { status: 200 },
    'closing twice is no mistake',
  );
  t.same(await held(ada, path), ['latest/beta=1']);
});

t.test('the first release publishes the package', async (t) => {
  const store = await startStore(t);
  const { ada, path } = await withRevisions(store, 'bin', 1);
  const status = async (): Promise<string> => (await ada.get(path)).body.metadata.status;
  await ada.post(`${path}/releases`, [{ channel: 'edge', revision: null }]);
  t.equal(await status(), 'registered', 'closing is no release');
  await ada.post(`${path}/releases`, [{ channel: 'edge', revision: 1 }]);
  t.equal(await status(), 'published');
  await ada.post(`${path}/releases`, [{ channel: 'edge', revision: null }]);
  t.equal(await status(), 'published');
});

t.test('a branch ends thirty days after its last release', async (t) => {
  const store = await startStore(t);
  const { ada, path } = await withRevisions(store, 'bin', 2);
  const day = 24 * 3_600_000;
  await ada.post(`${path}/releases`, [
    { channel: 'latest/edge/fix-1', revision: 1 },
    { channel: 'beta/other', revision: 1 },
    { channel: 'edge', revision: 1 },
  ]);
  const [beta, edge, branch] = await map(ada, path);
  t.match(beta, { channel: 'latest/beta/other', 'expiration-date': '2026-03-31T12:00:00.000Z' });
  t.match(edge, { channel: 'latest/edge', 'expiration-date': null });
  t.match(branch, { channel: 'latest/edge/fix-1', 'expiration-date': '2026-03-31T12:00:00.000Z' });
  store.clock.advance(20 * day);
  await ada.post(`${path}/releases`, [{ channel: 'latest/edge/fix-1', revision: 2 }]);
  store.clock.advance(10 * day - 1);
  t.same(await held(ada, path), ['latest/beta/other=1', 'latest/edge=1', 'latest/edge/fix-1=2']);
  store.clock.advance(1);
  t.same(await held(ada, path), ['latest/edge=1', 'latest/edge/fix-1=2'], 'on the minute');
  store.clock.advance(20 * day);
  t.same(await held(ada, path), ['latest/edge=1']);
  const { channels } = (await ada.get(`${path}/releases`)).body.package;
  t.same(
    (channels as { name: string }[]).map(({ name }) => name),
    ['latest/stable', 'latest/candidate', 'latest/beta', 'latest/edge'],
  );
  await ada.post(`${path}/releases`, [{ channel: 'edge/again', revision: 1 }]);
  await ada.post(`${path}/releases`, [{ channel: 'edge/again', revision: null }]);
  t.same(await held(ada, path), ['latest/edge=1'], 'and a branch can be closed before');
});

t.test('one request is one transaction', async (t) => {
  const store = await startStore(t);
  const { ada, path } = await withRevisions(store, 'bin', 2);
  const other = (await ada.post('/v1/bin', { name: 'other' })).body.id as string;
  for (let number = 1; number <= 4; number++) await addRevision(store, other, number);
  const before = footprint(store.directory);
  for (const [entry, message] of [
    [{ channel: 'edge', revision: 4 }, /^'hello' has no revision 4\. Its newest revision is 2\.$/],
    [{ channel: '2.0/edge', revision: 1 }, /^'hello' has no track '2\.0'/],
    [{ channel: '2.0/edge', revision: null }, /^'hello' has no track '2\.0'/],
    [
      { channel: 'edge', revision: 1, resources: [{ name: 'r', revision: 1 }] },
      /^Resource 'r' is not valid for bin with id /,
    ],
  ] as const) {
    t.match(await ada.post(`${path}/releases`, [{ channel: 'stable', revision: 1 }, entry]), refused(message));
  }
  t.same(footprint(store.directory), before);
  t.same(await held(ada, path), []);
  t.match((await ada.get(path)).body.metadata, { status: 'registered' });
});

t.test('a request is refused for its first impossible release', async (t) => {
  const store = await startStore(t);
  const { ada, path } = await withRevisions(store, 'bin', 1);
  const noPlan = { channel: 'beta', revision: 1, rollout: { steps: [10] } };
  t.match(await ada.post(`${path}/releases`, [noPlan]), refused(/cannot be rolled out in steps/));
  for (const [entry, message] of [
    [{ channel: '2.0/edge', revision: 1 }, /has no track '2\.0'/],
    [{ channel: 'edge', revision: 9 }, /has no revision 9/],
  ] as const) {
    t.match(await ada.post(`${path}/releases`, [entry, noPlan, noPlan]), refused(message));
    t.match(await ada.post(`${path}/releases`, [noPlan, entry]), refused(/cannot be rolled out in steps/));
  }
});

t.test('an invalid channel is refused', async (t) => {
  const store = await startStore(t);
  const { ada, path } = await withRevisions(store, 'bin', 1);
  for (const channel of [
    '',
    '/',
    'latest/',
    '/edge',
    'latest/edge/',
    'latest/edge/a/b',
    'EDGE',
    'latest/Edge',
    'nonsense/x',
    ' edge',
    'edge ',
    'latest/edge/stable',
    'edge/a/b',
    'la test/edge',
    '*/edge',
    'x'.repeat(29) + '/edge',
  ]) {
    t.match(await ada.post(`${path}/releases`, [{ channel, revision: 1 }]), refused(/./), JSON.stringify(channel));
  }
  t.same(await held(ada, path), []);
});

t.test('a body that is wrong releases nothing', async (t) => {
  const store = await startStore(t);
  const { ada, path } = await withRevisions(store, 'bin', 1);
  const before = footprint(store.directory);
  const good = { channel: 'edge', revision: 1 };
  for (const [body, pointer] of [
    [{}, '/'],
    [good, '/'],
    [[], '/'],
    [[{}], '/0'],
    [[good, { channel: 'edge' }], '/1'],
    [[{ revision: 1 }], '/0'],
    [[{ ...good, revision: '1' }], '/0/revision'],
    [[{ ...good, revision: 0 }], '/0/revision'],
    [[{ ...good, revision: -1 }], '/0/revision'],
    [[{ ...good, revision: 1.5 }], '/0/revision'],
    [[{ ...good, revision: 1e21 }], '/0/revision'],
    [[{ ...good, channel: null }], '/0/channel'],
    [[{ ...good, colour: 'red' }], '/0'],
    [[{ ...good, progressive: { percentage: 101 } }], '/0/progressive/percentage'],
    [[{ ...good, progressive: { paused: 'no' } }], '/0/progressive/paused'],
    [[{ ...good, progressive: { speed: 1 } }], '/0/progressive'],
    [[{ ...good, resources: {} }], '/0/resources'],
    [[{ ...good, resources: [{ name: 'r' }] }], '/0/resources/0'],
    [Array(201).fill(good), '/'],
  ] as const) {
    t.match(
      await ada.post(`${path}/releases`, body),
      refused(new RegExp(` at ${pointer}$`)),
      JSON.stringify(body).slice(0, 90),
    );
  }
  t.same(footprint(store.directory), before);
  t.match(
    await ada.post(`${path}/releases`, [{ ...good, resources: null }]),
    { status: 200 },
    'null resources are none',
  );
  t.match(await ada.post(`${path}/releases`, [{ ...good, resources: [], progressive: {} }]), { status: 200 });
});

t.test('a snap fills one slot for each of its architectures and leaves the others', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  await addRevision(store, id, 1, { details: { architectures: ['amd64', 'arm64'] } });
  await addRevision(store, id, 2, { details: { architectures: ['arm64'] } });
  await addRevision(store, id, 3, { details: { architectures: ['all'] } });
  const slots = async (): Promise<string[]> =>
    (await map(ada, '/v1/snap/hello')).map(({ architecture, revision }) => `${architecture ?? ''}=${revision}`).sort();
  await ada.post('/v1/snap/hello/releases', [{ channel: 'edge', revision: 1 }]);
  t.same(await slots(), ['amd64=1', 'arm64=1']);
  await ada.post('/v1/snap/hello/releases', [{ channel: 'edge', revision: 2 }]);
  t.same(await slots(), ['amd64=1', 'arm64=2']);
  await ada.post('/v1/snap/hello/releases', [{ channel: 'edge', revision: 3 }]);
  t.same(await slots(), ['all=3', 'amd64=1', 'arm64=2'], 'all is a slot of its own');
  await ada.post('/v1/snap/hello/releases', [{ channel: 'edge', revision: null }]);
  t.same(await slots(), [], 'closing empties every slot');
});

t.test('a charm fills one slot for each of its bases', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/charm', { name: 'hello' })).body;
  const base = (channel: string, architecture: string) => ({ name: 'ubuntu', channel, architecture });
  await addRevision(store, id, 1, { details: { bases: [base('22.04', 'amd64'), base('22.04', 'arm64')] } });
  await addRevision(store, id, 2, { details: { bases: [base('24.04', 'amd64'), base('22.04', 'amd64')] } });
  await ada.post('/v1/charm/hello/releases', [{ channel: 'edge', revision: 1 }]);
  await ada.post('/v1/charm/hello/releases', [{ channel: 'edge', revision: 2 }]);
  const entries = (await ada.get('/v1/charm/hello/releases')).body['channel-map'];
  t.same(
    (entries as { base: object; revision: number }[]).map((entry) => [entry.base, entry.revision]),
    [
      [base('22.04', 'amd64'), 2],
      [base('22.04', 'arm64'), 1],
      [base('24.04', 'amd64'), 2],
    ],
  );
});

t.test('the channels of a token are names and patterns, matched with the full name', async (t) => {
  const store = await startStore(t);
  const { path } = await withRevisions(store, 'bin', 1);
  const status = async (channels: string[], channel: string, revision: number | null = 1): Promise<number> =>
    (await (await store.as('ada', { channels })).post(`${path}/releases`, [{ channel, revision }])).status;
  for (const [channels, channel, allowed] of [
    [['edge'], 'edge', true],
    [['edge'], 'latest/edge', true],
    [['latest/edge'], 'edge', true],
    [['*/edge'], 'edge', true],
    [['latest/*'], 'beta', true],
    [['*/*'], 'beta', true],
    [['beta', 'edge'], 'edge', true],
    [['latest/edge/*'], 'edge/fix', true],
    [['edge/*'], 'edge/fix', true],
    [['*/*/*'], 'edge/fix', true],
    [['edge'], 'beta', false],
    [['*'], 'edge', true],
    [['latest'], 'stable', true],
    [['latest/*'], 'edge/fix', false],
    [['*/*'], 'edge/fix', false],
    [['edge'], 'edge/fix', false],
    [['edge/*'], 'edge', false],
    [['2.0/*'], 'edge', false],
    [[], 'edge', false],
  ] as const) {
    t.equal(await status([...channels], channel), allowed ? 200 : 401, `${JSON.stringify(channels)} for ${channel}`);
    t.equal(await status([...channels], channel, null), allowed ? 200 : 401, 'closing asks the same');
  }
  const narrow = await store.as('ada', { channels: ['edge'] });
  const reply = await narrow.post(`${path}/releases`, [
    { channel: 'edge', revision: 1 },
    { channel: 'beta', revision: 1 },
  ]);
  t.match(reply, { status: 401, body: { 'error-list': [{ code: 'permission-required', message: /'latest\/beta'/ }] } });
  t.same(await held(await store.as('ada'), path), [], 'all of it or nothing');
  const root = await store.as('root', { channels: ['edge'] });
  t.match(
    await root.post(`${path}/releases`, [{ channel: 'beta', revision: 1 }]),
    { status: 401 },
    "an administrator's token binds too",
  );
});

t.test('collaborators and store administrators release too', async (t) => {
  const store = await startStore(t);
  const { id, path } = await withRevisions(store, 'bin', 1);
  await addCollaborator(store, id, 'bob');
  for (const person of ['bob', 'root']) {
    t.match(
      await (
        await store.as(person)
      ).post(`${path}/releases`, [{ channel: person === 'bob' ? 'edge' : 'beta', revision: 1 }]),
      { status: 200 },
    );
  }
  t.same(await held(await store.as('ada'), path), ['latest/beta=1', 'latest/edge=1']);
});

t.test('a progressive release shows its progress', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  await ada.push('snap', 'tiny-app', await snapFixture('app-xz'));
  const progressive = async (settings?: object): Promise<unknown> => {
    const reply = await ada.post('/v1/snap/tiny-app/releases', [
      { channel: 'edge', revision: 1, ...(settings && { progressive: settings }) },
    ]);
    t.equal(reply.status, 200);
    return (await ada.get('/v1/snap/tiny-app/releases')).body['channel-map'].at(-1).progressive;
  };
  t.same(await progressive(), { paused: null, percentage: null });
  t.same(await progressive({ percentage: 12.5, paused: false }), { paused: false, percentage: 12.5 });
  t.same(await progressive({ percentage: 0, paused: true }), { paused: true, percentage: 0 });
  t.same(await progressive({ percentage: null, paused: null }), { paused: null, percentage: null });
  t.same(await progressive({}), { paused: null, percentage: null });
});

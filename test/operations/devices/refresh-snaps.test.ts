// Responses to devices that install, refresh and download.
// Own process: its revisions share one content, and a process caches by content.
import { createHash } from 'node:crypto';

import fc from 'fast-check';
import t from 'tap';

import type { RefreshAction } from '#contract/wire.ts';
import { days } from '#domain/clock.ts';
import { snapFixture, startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { deviceHeaders, fields, refresh, servingSnaps } from '#test/fixtures/devices.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { startForDevices } from './world.ts';

type Details = NonNullable<Parameters<typeof addRevision>[3]>;

/** A store with a snap of ada's that has these revisions; each is released where it is said to be, in the given order. */
async function withSnap(
  t: Parameters<typeof startStore>[0],
  revisions: Record<number, Details> = { 1: {} },
  releases: object[] = [{ channel: 'stable', revision: 1 }],
): Promise<{ store: TestAppliance; ada: Awaited<ReturnType<TestAppliance['as']>>; id: string }> {
  const store = await startStore(t, servingSnaps);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  for (const [revision, details] of Object.entries(revisions)) await addRevision(store, id, Number(revision), details);
  await release(ada, ...releases);
  return { store, ada, id };
}

async function release(ada: { post(path: string, body: unknown): Promise<{ status: number }> }, ...releases: object[]) {
  for (const entry of releases) {
    const { status } = await ada.post('/v1/snap/hello/releases', [entry]);
    if (status !== 200) throw new Error(`cannot release ${JSON.stringify(entry)}: ${status}`);
  }
}

const install = (more: Partial<RefreshAction> = {}) => ({ action: 'install' as const, name: 'hello', ...more });
const installed = (revision: number, more = {}) => [{ result: 'install', name: 'hello', snap: { revision }, ...more }];
const none = (code: string, more = {}) => [{ result: 'error', error: { code }, ...more }];

t.test('a device installs what ada has pushed and released, and the file that it fetches has its digest', async (t) => {
  const store = await startStore(t, servingSnaps);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body;
  const content = await snapFixture('app-xz');
  await ada.push('snap', 'tiny-app', content);
  t.match(await refresh(store, [install({ name: 'tiny-app' })]), none('name-not-found'), 'before anything is released');
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'stable', revision: 1 }]);

  const [result] = await refresh(store, [install({ name: 'tiny-app', 'instance-key': 'install-1' })]);
  t.match(result, {
    result: 'install',
    'instance-key': 'install-1',
    'snap-id': id,
    name: 'tiny-app',
    'effective-channel': 'latest/stable',
    snap: {
      architectures: ['amd64'],
      base: 'core22',
      confinement: 'strict',
      epoch: { read: [0], write: [0] },
      publisher: { id: store.ids.ada, username: 'ada', 'display-name': 'Ada', validation: 'unproven' },
      'snap-yaml': /^name: tiny-app$/m,
      type: 'app',
      version: '1.10',
      download: { size: content.length, deltas: [] },
    },
  });
  const { url = '', 'sha3-384': digest } = result!.snap!.download!;
  t.equal(url, `http://127.0.0.1:8080/api/v1/snaps/download/${id}_1.snap`);
  const file = await fetch(`${store.url}${new URL(url).pathname}`, { headers: { 'snap-cdn': 'none' } });
  const bytes = Buffer.from(await file.arrayBuffer());
  t.equal(createHash('sha3-384').update(bytes).digest('hex'), digest);
  t.same(bytes, content);
  t.notOk(JSON.stringify(result).includes('example.com'), "nobody's e-mail address is told");
});

t.test('only the requested fields are returned', async (t) => {
  const { store } = await withSnap(t);
  const body = {
    context: null,
    actions: [install({ 'instance-key': 'a' })],
    fields: ['revision', 'nonsense', 'toString'],
  };
  const reply = await store.anyone.post('/v2/snaps/refresh', body, deviceHeaders());
  t.same(reply.body.results[0].snap, { revision: 1 });
  t.equal(reply.headers.get('snap-store-version'), '60');
  t.equal(reply.headers.get('content-type'), 'application/json');
  t.equal(reply.headers.get('cache-control'), 'no-store');
  const all = await store.anyone.post('/v2/snaps/refresh', { ...body, fields: undefined }, deviceHeaders());
  t.ok(Object.keys(all.body.results[0].snap).length > 10);
});

t.test('an empty channel makes a device fall back to a safer one, and a branch to its risk', async (t) => {
  const arm = { details: { architectures: ['arm64'] } };
  const { store, ada } = await withSnap(t, { 1: {}, 2: {}, 3: arm }, [
    { channel: 'stable', revision: 1 },
    { channel: 'beta/fix', revision: 2 },
    { channel: 'edge', revision: 3 },
  ]);
  const ask = (channel: string, headers = {}) => refresh(store, [install({ channel })], [], headers);
  t.match(await ask('candidate'), installed(1, { 'effective-channel': 'latest/stable' }));
  t.match(await ask('beta/fix'), installed(2, { 'effective-channel': 'latest/beta/fix' }));
  t.match(await ask('beta/other'), installed(1, { 'effective-channel': 'latest/stable' }));
  t.match(await ask('edge'), installed(1), 'not what is there for others');
  t.match(await ask('edge', deviceHeaders('arm64')), installed(3));
  t.match(await ask('latest/edge', { 'snap-device-architecture': '', 'x-ubuntu-architecture': 'arm64' }), installed(1));
  t.match(await ask('2.0/stable'), [
    {
      result: 'error',
      name: 'hello',
      error: {
        code: 'revision-not-found',
        extra: {
          releases: [
            { architecture: 'arm64', channel: 'latest/edge' },
            { architecture: 'all', channel: 'latest/stable' },
          ],
        },
      },
    },
  ]);
  t.match(await ask('//'), none('invalid-channel'));
  await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: null }]);
  t.match(await ask('stable'), none('revision-not-found'));
  store.clock.advance(31 * 24 * 3_600_000);
  t.match(await ask('beta/fix'), none('revision-not-found'), 'a branch ends');
});

t.test('by its number a device gets a revision of a channel, its own revision, and nothing else', async (t) => {
  const { store, ada, id } = await withSnap(t, { 1: {}, 2: {}, 3: {} }, [
    { channel: 'stable', revision: 1 },
    { channel: 'edge', revision: 2 },
    { channel: 'edge', revision: 3 },
  ]);
  t.match(await refresh(store, [install({ revision: 3, channel: 'stable' })]), installed(3), 'the number wins');
  t.notMatch((await refresh(store, [install({ revision: 3 })]))[0], { 'effective-channel': /./ });
  t.match(await refresh(store, [install({ revision: 2 })]), none('revision-not-found'));
  t.match(await refresh(store, [install({ revision: 4 })]), none('revision-not-found'));
  const context = [{ 'snap-id': id, 'instance-key': id, revision: 2, 'tracking-channel': 'edge' }];
  const again = { action: 'refresh' as const, 'snap-id': id, 'instance-key': id, revision: 2 };
  t.match(await refresh(store, [again], context), [{ result: 'refresh', snap: { revision: 2 } }]);
  await addRevision(store, id, 4);
  const lie = [{ ...context[0], revision: 4 }];
  t.match(await refresh(store, [{ ...again, revision: 4 }], lie), none('revision-not-found'), 'it cannot have that');
  await ada.post('/internal/v1/packages/snap/hello/revisions/3/withdraw', { reason: 'it loses data' });
  t.match(await refresh(store, [install({ revision: 3 })]), none('revision-not-found'));
});

t.test('an install without a track is redirected to the default track, if the client understands it', async (t) => {
  const { store, ada, id } = await withSnap(t, { 1: {}, 2: {} }, [{ channel: 'stable', revision: 1 }]);
  const root = await store.as('root');
  await root.post('/internal/v1/packages/snap/hello/guardrails', { pattern: '^[0-9]+$' });
  await ada.post('/v1/snap/hello/tracks', [{ name: '2' }]);
  await release(ada, { channel: '2/stable', revision: 2 });
  t.equal((await ada.patch('/v1/snap/hello', { 'default-track': '2' })).status, 200);

  const moved = { 'effective-channel': '2/stable', 'redirect-channel': '2/stable' };
  t.match(await refresh(store, [install()]), installed(2, moved));
  t.match(await refresh(store, [install({ channel: 'stable' })]), installed(2, moved));
  t.match(
    await refresh(store, [install({ channel: 'edge' })]),
    installed(2, { ...moved, 'redirect-channel': '2/edge' }),
  );
  t.notMatch((await refresh(store, [install({ channel: 'latest/stable' })]))[0], { 'redirect-channel': /./ });
  const old = { 'snap-device-capabilities': '' };
  t.match(await refresh(store, [install()], [], old), installed(1, { 'effective-channel': 'latest/stable' }));
  const context = [{ 'snap-id': id, 'instance-key': id, revision: 1, 'tracking-channel': 'stable' }];
  const [result] = await refresh(store, [{ action: 'refresh', 'snap-id': id, 'instance-key': id }], context);
  t.match(result, { snap: { revision: 1 } });
  t.notMatch(result, { 'redirect-channel': /./ });
});

t.test('a device that is two epochs behind walks the steps, one refresh at a time', async (t) => {
  const yaml = (epoch: string): Details => ({ packageYaml: `name: hello\nversion: '1'\nepoch: ${epoch}\n` });
  const { store, id } = await withSnap(
    t,
    { 1: yaml('0'), 2: yaml('1*'), 3: yaml('{read: [1, 2], write: [2]}'), 4: yaml('2') },
    [
      { channel: 'stable', revision: 1 },
      { channel: 'stable', revision: 2 },
      { channel: 'stable', revision: 3 },
      { channel: 'stable', revision: 4 },
    ],
  );
  let has = { revision: 1, epoch: { read: [0], write: [0] } };
  const steps: number[] = [];
  for (let step = 0; step < 4; step++) {
    const context = [{ 'snap-id': id, 'instance-key': id, 'tracking-channel': 'stable', ...has }];
    const [result] = await refresh(store, [{ action: 'refresh', 'snap-id': id, 'instance-key': id }], context);
    const { revision = 0, epoch } = result!.snap!;
    has = { revision, epoch: epoch! };
    steps.push(revision);
  }
  t.same(steps, [2, 3, 4, 4]);
  t.match(await refresh(store, [install({ epoch: null })]), installed(4), 'a new one has nothing to read');
  const strange = { read: [9], write: [9] };
  t.match(await refresh(store, [install({ epoch: strange })]), none('revision-not-found'));
});

t.test('a progressive release reaches its part of the devices, always the same ones', async (t) => {
  const { store, ada, id } = await withSnap(t, { 1: {}, 2: {} }, [
    { channel: 'stable', revision: 1 },
    { channel: 'stable', revision: 2, progressive: { percentage: 30, paused: false } },
  ]);
  const got = async (): Promise<number[]> => {
    const all: number[] = [];
    for (let device = 0; device < 40; device++) {
      const context = [
        { 'snap-id': id, 'instance-key': id, revision: device < 2 ? 2 : 1, 'tracking-channel': 'stable' },
      ];
      const [result] = await refresh(store, [{ action: 'refresh', 'snap-id': id, 'instance-key': id }], context);
      all.push(result!.snap!.revision!);
    }
    return all;
  };
  const first = await got();
  t.same(first.slice(0, 2), [2, 2], 'who has it keeps it');
  t.equal(new Set(first.slice(2)).size, 1, 'one address stands at one place');
  t.same(await got(), first);
  await release(ada, { channel: 'stable', revision: 2, progressive: { percentage: 99.999, paused: false } });
  t.same(new Set(await got()), new Set([2]));
  await release(ada, { channel: 'stable', revision: 2, progressive: { percentage: 99.999, paused: true } });
  t.same((await got()).slice(1, 4), [2, 1, 1], 'while it is paused nobody new gets it');
});

t.test('private snaps, names without a release and unknown names get the same response', async (t) => {
  const { store, ada } = await withSnap(t);
  await ada.post('/v1/snap', { name: 'unreleased' });
  const resultOf = async (name: string) => (await refresh(store, [install({ name, 'instance-key': 'a' })]))[0];
  await ada.post('/v1/snap', { name: 'secret', private: true });
  const secret = (await ada.get('/v1/snap/secret')).body.metadata.id;
  await addRevision(store, secret, 1);
  await ada.post('/v1/snap/secret/releases', [{ channel: 'stable', revision: 1 }]);
  for (const name of ['unreleased', 'secret', 'nothing']) {
    const error = { code: 'name-not-found', message: `There is no snap named '${name}'.` };
    t.same(await resultOf(name), { result: 'error', 'instance-key': 'a', name, error });
  }
  const byId = async (id: string) => (await refresh(store, [install({ 'snap-id': id })]))[0]!.error?.code;
  t.same([await byId(secret), await byId('x'.repeat(32))], ['id-not-found', 'id-not-found']);
  for (const id of [secret, 'x'.repeat(32)]) {
    t.equal((await store.anyone.get(`/api/v1/snaps/download/${id}_1.snap`)).status, 404);
  }
});

t.test('a device gets the addresses of missing assertions in the same call', async (t) => {
  const { store } = await startForDevices(t);
  const missing = [
    { type: 'account', 'primary-key': ['acme'] },
    { type: 'account', 'primary-key': ['nobody'] },
  ];
  const group = (key: string, ...assertions: object[]) => ({ action: 'fetch-assertions', key, assertions });
  const body = { context: [], actions: [group('one', missing[0]!), group('two', ...missing), group('three')] };
  const reply = await store.anyone.post('/v2/snaps/refresh', body, deviceHeaders());
  const [first, two, three] = reply.body.results;
  t.match(first, { result: 'fetch-assertions', key: 'one', 'error-list': [] });
  const [url] = first['assertion-stream-urls'] as [string];
  t.match(await store.anyone.get(new URL(url).pathname), { status: 200, body: /^type: account$/m });
  t.match(two, { key: 'two', 'error-list': [{ code: 'not-found', type: 'account', 'primary-key': ['nobody'] }] });
  t.same(three, { result: 'fetch-assertions', key: 'three', 'assertion-stream-urls': [], 'error-list': [] });
});

t.test('the next refresh sees each change, also one of another process', async (t) => {
  const { store, ada, id } = await withSnap(t, { 1: {}, 2: {} });
  const ask = async () => {
    const { result, snap, error } = (await refresh(store, [{ ...install(), 'snap-id': id }]))[0] ?? {};
    return result === 'error' ? error?.code : [snap?.revision, snap?.title, snap?.publisher?.username];
  };
  const { records } = store.beside;
  const entry = { at: store.clock.now.toISOString(), actor: 'test', action: 'try', object: 'x' };
  t.same(
    [await ask(), await ask()],
    [
      [1, undefined, 'ada'],
      [1, undefined, 'ada'],
    ],
  );
  await ada.patch('/v1/snap/hello', { title: 'Hello' });
  t.same(await ask(), [1, 'Hello', 'ada']);
  await release(ada, { channel: 'stable', revision: 2 });
  t.same(await ask(), [2, 'Hello', 'ada']);
  await records.change(entry, (tx) => tx.releases.close(id, 'latest/stable'));
  t.same(await ask(), 'revision-not-found', 'a channel that was closed beside the server');
  await release(ada, { channel: 'stable/fix', revision: 1 });
  const onBranch = () => refresh(store, [{ ...install({ channel: 'stable/fix' }), 'snap-id': id }]);
  t.match(await onBranch(), installed(1));
  store.clock.advance(days(31));
  t.match(await onBranch(), none('revision-not-found'), 'a branch that has ended meanwhile');
  await release(ada, { channel: 'stable', revision: 1 });
  await ada.patch('/v1/snap/hello', { private: true });
  t.same(await ask(), 'id-not-found');
});

t.test('a repeated response matches its own request, and the current state', async (t) => {
  const { store, ada, id } = await withSnap(t, { 1: {} }, [
    { channel: 'stable', revision: 1 },
    { channel: 'edge', revision: 1 },
  ]);
  const root = await store.as('root');
  await root.post('/internal/v1/packages/snap/hello/guardrails', { pattern: '^[0-9]+$' });
  await ada.post('/v1/snap/hello/tracks', [{ name: '2' }]);
  await release(ada, { channel: '2/stable', revision: 1 });
  // Devices that refresh name a snap by its id, and so does this for every action.
  const ask = async (action: 'refresh' | 'install' | 'download', channel: string, requested = fields) => {
    const ids = { 'snap-id': id, 'instance-key': id };
    const context = action === 'refresh' ? [{ ...ids, revision: 1, 'tracking-channel': channel }] : [];
    const entry = { action, ...ids, name: 'hello', ...(action !== 'refresh' && { channel }) };
    const body = { context, actions: [entry], fields: requested };
    const { results } = (await store.anyone.post('/v2/snaps/refresh', body, deviceHeaders())).body;
    const { result, snap, ...more } = results[0];
    return [result, more['effective-channel'], more['redirect-channel'], snap.title, Object.keys(snap).length];
  };
  const all = (await ask('refresh', 'stable'))[4] as number;
  for (let time = 0; time < 2; time++) {
    t.same(await ask('refresh', 'stable'), ['refresh', 'latest/stable', undefined, undefined, all]);
    t.same(await ask('refresh', 'edge'), ['refresh', 'latest/edge', undefined, undefined, all]);
    t.same(await ask('install', 'edge'), ['install', 'latest/edge', undefined, undefined, all]);
    t.same(await ask('download', 'edge'), ['download', 'latest/edge', undefined, undefined, all]);
    t.same(await ask('install', '2/stable'), ['install', '2/stable', undefined, undefined, all]);
    t.same(await ask('refresh', 'stable', ['revision']), ['refresh', 'latest/stable', undefined, undefined, 1]);
  }
  await ada.patch('/v1/snap/hello', { title: 'Hello', 'default-track': '2' });
  t.same(await ask('refresh', 'stable'), ['refresh', 'latest/stable', undefined, 'Hello', all + 1]);
  t.same(await ask('install', 'stable'), ['install', '2/stable', '2/stable', 'Hello', all + 1]);
  t.same(await ask('install', '2/stable'), ['install', '2/stable', undefined, 'Hello', all + 1]);
});

t.test('every action has one result, and a snap without an action has none', async (t) => {
  const yaml = (epoch: string): Details => ({ packageYaml: `name: hello\nversion: '1'\nepoch: ${epoch}\n` });
  const { store, id } = await withSnap(t, { 1: yaml('0'), 2: yaml('1*'), 3: yaml('2') }, [
    { channel: 'stable', revision: 1 },
    { channel: 'stable', revision: 2 },
    { channel: 'edge', revision: 3, progressive: { percentage: 50, paused: false } },
  ]);
  const { hello } = (await store.anyone.post('/v2/cohorts', { snaps: ['hello'] }, deviceHeaders())).body['cohort-keys'];
  const numbers = fc.array(fc.nat(3), { maxLength: 3 });
  const epoch = fc
    .constantFrom(null, undefined)
    .chain((none) => fc.oneof(fc.constant(none), fc.record({ read: numbers, write: numbers }), fc.constant({})));
  const options = {
    'snap-id': fc.constantFrom(id, 'unknown', '', '__proto__'),
    'cohort-key': fc.constantFrom(hello as string, 'forged', '', null),
    'ignore-validation': fc.constantFrom(true, false, null),
    'validation-sets': fc.constantFrom(null, [], [['16', 'acme', 'base', '1']], [['16', 'acme', '..']]),
    epoch,
  };
  const item = fc
    .record(
      {
        ...options,
        revision: fc.nat(3),
        'tracking-channel': fc.constantFrom('stable', 'edge', '', 'x/y/z/w', 'latest/stable/fix'),
        'refreshed-date': fc.constantFrom(null, '', '2026-01-01T00:00:00Z'),
        held: fc.constantFrom(null, { by: ['system'] }, { by: null }, {}),
        colour: fc.string(),
      },
      { requiredKeys: ['snap-id', 'revision'] },
    )
    .map((entry) => entry as object);
  const wish = fc.record(
    {
      ...options,
      action: fc.constantFrom('install' as const, 'download' as const, 'refresh' as const, 'fetch-assertions' as const),
      name: fc.constantFrom('hello', 'nothing', '', '../..', 'constructor'),
      channel: fc.constantFrom('stable', 'edge', 'x/y/z/w', '', null),
      revision: fc.constantFrom(0, 1, 2, 2147483647, null),
    },
    { requiredKeys: ['action'] },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(item, { maxLength: 4 }),
      fc.array(wish, { maxLength: 6 }),
      fc.uniqueArray(fc.string({ minLength: 1, maxLength: 20 }), { minLength: 10, maxLength: 10 }),
      async (items, wishes, keys) => {
        const context = items.map((entry, at) => ({ ...entry, 'instance-key': keys[at]! }));
        const actions = wishes
          .map((entry, at) => ({
            ...entry,
            'instance-key': keys[entry.action === 'refresh' ? at : 4 + at]!,
            key: keys[at]!,
          }))
          .filter(({ action }, at) => action !== 'refresh' || at < items.length) as (RefreshAction & { key: string })[];
        const results = await refresh(store, actions, context);
        t.same(
          results.map((result) => result['instance-key'] ?? result.key),
          actions.map((action) => (action.action === 'fetch-assertions' ? action.key : action['instance-key'])),
        );
        for (const [at, { result, error, snap }] of results.entries()) {
          if (result === 'error') t.ok(error?.code);
          else t.equal(result, actions[at]!.action);
          t.equal(snap !== undefined, !['error', 'fetch-assertions'].includes(result));
        }
      },
    ),
    { numRuns: process.env['LARDER_LONG'] === '1' ? 1000 : 60 },
  );
});

t.test('false headers and guessed names change no response', async (t) => {
  const { store, ada } = await withSnap(t);
  const secret = (await ada.post('/v1/snap', { name: 'secret', private: true })).body.id;
  await addRevision(store, secret, 1);
  await ada.post('/v1/snap/secret/releases', [{ channel: 'stable', revision: 1 }]);
  const lies = [
    { 'snap-device-architecture': '../../etc', 'snap-device-store': 'another', 'snap-classic': 'perhaps' },
    { 'snap-device-architecture': 'x'.repeat(4000), 'snap-device-series': '-1' },
    { 'snap-device-capabilities': 'default-tracks,'.repeat(200), 'snap-device-location': '"; DROP' },
    { 'x-ubuntu-architecture': '__proto__', 'snap-refresh-managed': 'no', 'snap-accept-delta-format': ','.repeat(500) },
  ];
  for (const headers of lies) {
    const results = await refresh(store, [install(), install({ name: 'secret' })], [], headers);
    t.match(
      results,
      [{ snap: { revision: 1 } }, { error: { code: 'name-not-found' } }],
      JSON.stringify(headers).slice(0, 60),
    );
  }
  const forged = { ...deviceHeaders(), 'snap-device-authorization': 'Macaroon root="forged"' };
  const request = { context: [], actions: [{ ...install(), 'instance-key': 'a' }] };
  const reply = await store.anyone.post('/v2/snaps/refresh', request, forged);
  t.equal(reply.status, 401);
  t.match(reply.headers.get('www-authenticate'), /refresh_device_session=1/);
  const login = { ...deviceHeaders(), authorization: 'Macaroon root="forged", discharge="forged"' };
  t.equal((await store.anyone.post('/v2/snaps/refresh', request, login)).status, 401);

  // In every call a private snap looks like a missing one.
  const same = async (path: (name: string, id: string) => string) => {
    const [real, none] = [
      await store.anyone.get(path('secret', secret)),
      await store.anyone.get(path('nobody', 'x'.repeat(32))),
    ];
    const text = (body: unknown): string => JSON.stringify(body).replaceAll(secret, 'ID').replaceAll('secret', 'NAME');
    const other = JSON.stringify(none.body).replaceAll('x'.repeat(32), 'ID').replaceAll('nobody', 'NAME');
    t.same([real.status, text(real.body)], [none.status, other]);
  };
  await same((name) => `/v2/snaps/info/${name}`);
  await same((name) => `/v2/snaps/find?q=${name}`);
  await same((name) => `/v2/snaps/find?name=${name}&private=true`);
  await same((_, id) => `/api/v1/snaps/download/${id}_1.snap`);
  await same((_, id) => `/api/v1/snaps/download/${id}_words_1.comp`);
});

t.test('an invalid call is refused as a whole, with the mistake', async (t) => {
  const { store } = await withSnap(t);
  const refused = async (body: unknown, message: RegExp) => {
    const reply = await store.anyone.post('/v2/snaps/refresh', body, deviceHeaders());
    t.match(reply, { status: 400, body: { 'error-list': [{ code: 'api-error', message }] } });
    t.equal(reply.headers.get('snap-store-version'), '60');
  };
  const validAction = { ...install(), 'instance-key': 'a' };
  await refused({ context: [] }, /'actions' is a required property/);
  await refused({ actions: [{ ...validAction, action: 'enforce' }] }, /at \/actions\/0\/action/);
  await refused({ actions: [install()] }, /'instance-key' is a required property at \/actions\/0/);
  await refused({ actions: [validAction, validAction] }, /Two actions have the instance-key 'a'/);
  await refused({ actions: [{ action: 'refresh', 'instance-key': 'a', 'snap-id': 'b' }] }, /context has no entry/);
  await refused({ actions: [], context: Array.from({ length: 2001 }, () => ({})) }, /at \/context/);
  await refused({ actions: [{ ...validAction, revision: -1 }] }, /at \/actions\/0\/revision/);
  await refused('nonsense', /./);
  const large = JSON.stringify({
    context: Array.from({ length: 100_000 }, () => ({ 'snap-id': 'x'.repeat(32) })),
    actions: [],
  });
  t.match(await store.anyone.post('/v2/snaps/refresh', large, { 'content-type': 'application/json' }), { status: 413 });
  const unknown = { ...validAction, colour: 'green', 'refreshed-date': null };
  t.match(await refresh(store, [unknown], [], {}), installed(1), 'members of newer devices are passed over');
  t.ok(fields.length > 20);
});

t.test('without the device interface, there is no response', async (t) => {
  const store = await startStore(t);
  t.match(await store.anyone.post('/v2/snaps/refresh', { actions: [] }), { status: 404 });
  t.match(await store.anyone.get('/api/v1/snaps/download/x_1.snap'), { status: 404 });
});

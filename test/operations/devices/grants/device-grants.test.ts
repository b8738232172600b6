// Access to snaps: for each device, by each request, and for a private snap with grants.
import t from 'tap';

import { mediaType, type Assertion } from '#assertions/format/assertion.ts';
import { snapFixture, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import { deviceHeaders, refresh } from '#test/fixtures/devices.ts';
import { made, timestamp } from '#test/assertions/world.ts';
import { larder } from '#test/cli/world.ts';
import { keep, sessionOf, startForDevices, vaultsChain } from '#test/operations/devices/world.ts';

t.setTimeout(600_000);

const digest = 'A'.repeat(64);
const at = '/internal/v1/packages/snap/tiny-app/device-grants';

/** A store with a private snap of ada, released, with its assertions. */
async function withSecret(t: Parameters<typeof startForDevices>[0]) {
  const { store, anyone } = await startForDevices(t);
  await keep(store, ...(await vaultsChain()));
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'tiny-app', private: true })).body as { id: string };
  await ada.push('snap', 'tiny-app', await snapFixture('app-xz'));
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'stable', revision: 1 }]);
  await keep(store, ...(await vouchersOf(id)));
  return { store, anyone, ada, root: await store.as('root'), id };
}

const vouchersOf = async (id: string): Promise<Assertion[]> => [
  await made('store', 'authority', 'snap-declaration', {
    series: '16',
    'snap-id': id,
    'snap-name': 'tiny-app',
    'publisher-id': 'acme',
    timestamp,
  }),
  await made('store', 'authority', 'snap-revision', {
    'snap-sha3-384': digest,
    'snap-id': id,
    'snap-size': '4096',
    'snap-revision': '1',
    'developer-id': 'acme',
    timestamp,
  }),
  await made('ada', 'acme', 'validation-set', {
    series: '16',
    'account-id': 'acme',
    name: 'pumps',
    sequence: '1',
    timestamp,
    snaps: [{ name: 'tiny-app', id, revision: '1' }],
  }),
];

type Header = Record<string, string>;

/** Each request for a snap, by name, id and assertions: whether it is available. */
const calls: Record<string, (store: TestAppliance, id: string, who: Header) => Promise<boolean>> = {
  install: async (store, _, who) =>
    (await refresh(store, [{ action: 'install', name: 'tiny-app' }], [], who))[0]?.result === 'install',
  'install by id': async (store, id, who) =>
    (await refresh(store, [{ action: 'install', 'snap-id': id }], [], who))[0]?.result === 'install',
  'download by number': async (store, _, who) =>
    (await refresh(store, [{ action: 'download', name: 'tiny-app', revision: 1 }], [], who))[0]?.result === 'download',
  refresh: async (store, id, who) => {
    const context = [{ 'snap-id': id, 'instance-key': id, revision: 1, 'tracking-channel': 'stable' }];
    const action = { action: 'refresh', 'snap-id': id, 'instance-key': id } as const;
    return (await refresh(store, [action], context, who))[0]?.result === 'refresh';
  },
  'fetch assertions': async (store, id, who) => {
    const assertions = [
      { type: 'snap-declaration', 'primary-key': ['16', id] },
      { type: 'snap-revision', 'primary-key': [digest] },
      { type: 'validation-set', 'sequence-key': ['16', 'acme', 'pumps'] },
    ];
    const actions = [{ action: 'fetch-assertions', key: 'one', assertions }];
    const { body } = await store.anyone.post('/v2/snaps/refresh', { context: [], actions }, who);
    const [{ 'assertion-stream-urls': urls, 'error-list': errors }] = body.results as [
      { 'assertion-stream-urls': string[]; 'error-list': unknown[] },
    ];
    if (![0, 3].includes(urls.length) || urls.length + errors.length !== 3) throw new Error(JSON.stringify(body));
    return urls.length === 3;
  },
  cohort: async (store, _, who) =>
    (await store.anyone.post('/v2/cohorts', { snaps: ['tiny-app'] }, who)).status === 200,
  info: (store, _, who) => isThere(store.anyone, '/v2/snaps/info/tiny-app', who),
  file: (store, id, who) => isThere(store.anyone, `/api/v1/snaps/download/${id}_1.snap`, who),
  'part of the file': (store, id, who) =>
    isThere(store.anyone, `/api/v1/snaps/download/${id}_1.snap`, { ...who, range: 'bytes=10-' }),
  declaration: (store, id, who) => isThere(store.anyone, `/v2/assertions/snap-declaration/16/${id}`, who),
  'snap-revision': (store, _, who) => isThere(store.anyone, `/v2/assertions/snap-revision/${digest}`, who),
  'validation set': (store, _, who) => isThere(store.anyone, '/v2/assertions/validation-set/16/acme/pumps', who),
  'its number': (store, _, who) => isThere(store.anyone, '/v2/assertions/validation-set/16/acme/pumps/1', who),
};

async function isThere(anyone: Client, path: string, who: Header): Promise<boolean> {
  const { status, headers } = await anyone.get(path, who);
  if (status === 404) return false;
  if (status !== 200 && status !== 206) throw new Error(`${path}: ${status}`);
  if (path.startsWith('/v2/snaps')) return true;
  // A response for some clients only, which no cache may store for others.
  return headers.get('cache-control')?.startsWith('private') === true;
}

const devices = {
  'acme/pump/0001': { brand: 'acme', model: 'pump', serial: '0001' },
  'acme/pump/0002': { brand: 'acme', model: 'pump', serial: '0002' },
  'acme/valve/0001': { brand: 'acme', model: 'valve', serial: '0001' },
  'vault/pump/0001': { brand: 'vault', model: 'pump', serial: '0001' },
} as const;

const people = async (anyone: Client): Promise<Record<string, Header>> => ({
  nobody: {},
  ...Object.fromEntries(
    await Promise.all(
      Object.entries(devices).map(async ([name, device]) => [name, await sessionOf(anyone, device)] as const),
    ),
  ),
});

t.test('a private snap is available to the devices with a grant, in every call, and to no others', async (t) => {
  const { store, anyone, root, id } = await withSecret(t);
  const everybody = await people(anyone);
  const has = async (granted: readonly string[], when: string): Promise<void> => {
    for (const [name, who] of Object.entries(everybody)) {
      for (const [call, ask] of Object.entries(calls)) {
        t.equal(
          await ask(store, id, { ...deviceHeaders(), ...who }),
          granted.includes(name),
          `${when}: ${name}, ${call}`,
        );
      }
    }
  };
  await has([], 'granted to nobody');
  const brand = { 'brand-id': 'acme' };
  for (const [grant, granted] of [
    [brand, ['acme/pump/0001', 'acme/pump/0002', 'acme/valve/0001']],
    [{ ...brand, model: 'pump' }, ['acme/pump/0001', 'acme/pump/0002']],
    [{ ...brand, model: 'pump', serial: '0001' }, ['acme/pump/0001']],
    [{ ...brand, model: 'pump', serial: '0002' }, ['acme/pump/0002']],
    [{ 'brand-id': 'vault' }, ['vault/pump/0001']],
  ] as const) {
    t.equal((await root.post(at, grant)).status, 201);
    await has(granted, `granted to ${JSON.stringify(grant)}`);
    t.equal((await root.post(`${at}/revoke`, grant)).status, 204);
  }
  await has([], 'when each grant is taken back');
});

t.test('a public snap is available to all devices, after any earlier grants', async (t) => {
  const { store, anyone, ada, root, id } = await withSecret(t);
  await root.post(at, { 'brand-id': 'vault' });
  await ada.patch('/v1/snap/tiny-app', { private: false });
  for (const who of Object.values(await people(anyone))) {
    for (const call of ['install', 'install by id', 'download by number', 'refresh', 'info', 'fetch assertions']) {
      t.ok(await calls[call]?.(store, id, { ...deviceHeaders(), ...who }), call);
    }
  }
});

t.test('a validation set is available to a device with grants for all of its private snaps', async (t) => {
  const { store, anyone, ada, root, id } = await withSecret(t);
  const other = (await ada.post('/v1/snap', { name: 'tiny-lib', private: true })).body as { id: string };
  const snaps = [
    { name: 'tiny-app', id, revision: '1' },
    { name: 'tiny-lib', id: other.id, revision: '1' },
  ];
  const both = { series: '16', 'account-id': 'acme', name: 'both', sequence: '1', timestamp, snaps };
  await keep(store, await made('ada', 'acme', 'validation-set', both));
  const pump = await sessionOf(anyone, devices['acme/pump/0001']);
  const isShown = () => isThere(anyone, '/v2/assertions/validation-set/16/acme/both', pump);
  await root.post(at, { 'brand-id': 'acme' });
  t.notOk(await isShown(), 'it names a snap that the device does not reach');
  await root.post(at.replace('tiny-app', 'tiny-lib'), { 'brand-id': 'acme' });
  t.ok(await isShown());
});

t.test('a private snap gets the exact response of a missing one', async (t) => {
  const { anyone, id } = await withSecret(t);
  const stranger = await sessionOf(anyone, devices['vault/pump/0001']);
  const never = 'N'.repeat(32);
  const like = async (path: string, other: string): Promise<void> => {
    const [first, two] = [await anyone.get(path, stranger), await anyone.get(other, stranger)];
    const text = (reply: typeof first): string =>
      JSON.stringify([
        reply.status,
        reply.body,
        [...reply.headers].filter(([name]) => !/^(?:date|x-request-id)$/.test(name)),
      ])
        .replaceAll(id, never)
        .replaceAll('tiny-app', 'no-thing')
        .replaceAll(digest, 'B'.repeat(64));
    t.equal(first.status, 404, path);
    t.equal(text(first), text(two), path);
  };
  await like('/v2/snaps/info/tiny-app', '/v2/snaps/info/no-thing');
  for (const number of [1, 2]) {
    await like(`/api/v1/snaps/download/${id}_${number}.snap`, `/api/v1/snaps/download/${never}_${number}.snap`);
  }
  await like(`/v2/assertions/snap-declaration/16/${id}`, `/v2/assertions/snap-declaration/16/${never}`);
  await like(`/v2/assertions/snap-revision/${digest}`, `/v2/assertions/snap-revision/${'B'.repeat(64)}`);
  const ask = async (name: string, snapId: string) => {
    const context = [{ 'snap-id': snapId, 'instance-key': 'c', revision: 1, 'tracking-channel': 'stable' }];
    const actions = [
      { action: 'install', 'instance-key': 'a', name },
      { action: 'install', 'instance-key': 'b', 'snap-id': snapId, name },
      { action: 'refresh', 'instance-key': 'c', 'snap-id': snapId },
    ];
    return (await anyone.post('/v2/snaps/refresh', { context, actions }, { ...deviceHeaders(), ...stranger })).body;
  };
  const replyText = JSON.stringify(await ask('tiny-app', id))
    .replaceAll(id, never)
    .replaceAll('tiny-app', 'no-thing');
  t.same(JSON.parse(replyText), await ask('no-thing', never));
  t.match(JSON.parse(replyText), { results: [{ result: 'error' }, { result: 'error' }, { result: 'error' }] });
});

t.test('a store in the request of a device restricts access, and never adds any', async (t) => {
  const { store, anyone, root, id } = await withSecret(t);
  const [own, other] = [await sessionOf(anyone, devices['acme/pump/0001']), { 'snap-device-store': 'brand-store' }];
  await root.post(at, { 'brand-id': 'acme' });
  const all = async (who: Header): Promise<Set<boolean>> =>
    new Set(await Promise.all(Object.values(calls).map((ask) => ask(store, id, { ...deviceHeaders(), ...who }))));
  const ours = (store.beside.config as { store: { id: string } }).store.id;
  t.same(await all(own), new Set([true]));
  t.same(await all({ ...own, 'snap-device-store': ours }), new Set([true]));
  const info = await anyone.get('/v2/snaps/info/tiny-app', own);
  t.equal(info.headers.get('cache-control'), 'private, no-store', 'what a session lets see is kept by nobody');
  t.same(await all({ ...own, ...other }), new Set([false]));
  t.same(await all({ ...own, 'x-ubuntu-store': 'brand-store' }), new Set([false]), 'under its older name');
  const session = { 'snap-device-authorization': 'Macaroon root="x"', 'snap-device-store': ours };
  t.equal((await anyone.get('/v2/snaps/info/tiny-app', session)).status, 401);
  t.equal((await anyone.get('/v2/snaps/info/tiny-app', { 'snap-device-store': ours })).status, 404);
  const friends = { 'friendly-stores': [ours] };
  await keep(
    store,
    await made('store', 'authority', 'store', { store: 'brand-store', 'operator-id': 'acme', timestamp, ...friends }),
  );
  t.same(await all({ ...own, ...other }), new Set([true]), 'its store is a friend of this one');
  t.same(await all(other), new Set([false]));
});

t.test('a grant is given and taken back on the host, and the next call of a serving process knows', async (t) => {
  const { store, anyone, id } = await withSecret(t);
  const who = { ...deviceHeaders(), ...(await sessionOf(anyone, devices['acme/pump/0001'])) };
  const path = `/api/v1/snaps/download/${id}_1.snap`;
  const run = async (line: string) => larder(`${line} --data ${store.directory}`);
  t.equal((await anyone.get(path, who)).status, 404);
  t.match(await run('device grant snap/tiny-app --brand acme --model pump'), {
    out: 'snap/tiny-app is there for the devices of the model acme/pump.\n',
  });
  t.equal((await anyone.get(path, who)).status, 200);
  t.match(await run('device grant snap/tiny-app --brand acme --model pump'), { err: /granted .* already/ });
  t.match(await run('device grant snap/tiny-app --brand acme --serial 0001'), { err: /a serial belongs to a model/i });
  t.match(await run('device grant snap/tiny-app --brand .. '), { err: /not the account id/ });
  t.match(await run('device grants snap/tiny-app'), { out: /acme +pump +all/ });
  const part = await fetch(`${store.url}${path}`, { headers: who });
  t.match(await run('device revoke snap/tiny-app --brand acme'), {
    err: /not granted to the devices of the brand acme/,
  });
  t.match(await run('device revoke snap/tiny-app --brand acme --model pump'), { out: /no more/ });
  t.ok((await part.arrayBuffer()).byteLength > 0, 'a download that is under way comes to its end');
  t.equal((await anyone.get(path, { ...who, range: 'bytes=10-' })).status, 404, 'and the next call finds nothing');
  t.match(await run('device grants snap/tiny-app'), { out: /granted to no devices/ });
  const rows = await store.beside.records.audit.newest(Number.MAX_SAFE_INTEGER, 2);
  t.match(rows, [
    {
      action: 'revoke_from_devices',
      object: 'snap/tiny-app',
      details: JSON.stringify({ brand: 'acme', model: 'pump' }),
    },
    { action: 'grant_to_devices', object: 'snap/tiny-app', details: JSON.stringify({ brand: 'acme', model: 'pump' }) },
  ]);
});

t.test('grants are for snaps, are listed page by page, and end with their package', async (t) => {
  const { store, root, ada, id } = await withSecret(t);
  const grants = [
    { 'brand-id': 'acme', model: 'pump', serial: '0001' },
    { 'brand-id': 'acme' },
    { 'brand-id': 'vault' },
  ];
  for (const grant of grants)
    t.match(await root.post(at, grant), { status: 201, body: { model: grant.model ?? null } });
  t.equal((await root.post(at, grants[1])).status, 409);
  t.equal((await root.post(`${at}/revoke`, { 'brand-id': 'acme', model: 'valve' })).status, 404);
  t.equal((await root.post(at, { 'brand-id': 'acme', serial: '0001' })).status, 400);
  t.equal((await root.post(at, { 'brand-id': 'acme', model: 'UPPER' })).status, 400);
  const first = await root.get(`${at}?page-size=2`);
  t.match(first.body, {
    grants: [
      { 'brand-id': 'acme', model: null },
      { 'brand-id': 'acme', serial: '0001' },
    ],
  });
  const second = await root.get(`${at}?page-size=2&cursor=${first.body['next-cursor']}`);
  t.match(second.body, { grants: [{ 'brand-id': 'vault', serial: null }], 'next-cursor': null });
  await ada.post('/v1/charm', { name: 'tiny' });
  const charm = await root.post('/internal/v1/packages/charm/tiny/device-grants', { 'brand-id': 'acme' });
  t.match(charm, { status: 400, body: { 'error-list': [{ message: /Only snaps/ }] } });
  t.same(await store.beside.records.deviceGrants.heldBy('9', 'vault/any'), new Set([id]));
});

t.test('a gateway sees the same for a snap that is granted to all devices of a brand', async (t) => {
  const { store, anyone, root, id } = await withSecret(t);
  const acme = await store.as('acme');
  const listPermissions = async (who: Client): Promise<unknown> =>
    (await who.post('/internal/v1/package-permissions', { filters: [{ type: 'snap', id }] })).body.packages;
  const bob = await store.as('bob');
  const device = await sessionOf(anyone, devices['acme/pump/0001']);
  const file = async () => (await anyone.get(`/api/v1/snaps/download/${id}_1.snap`, device)).status;
  t.same([await listPermissions(acme), await file()], [[], 404]);
  await root.post(at, { 'brand-id': 'acme' });
  t.same([await listPermissions(acme), await file()], [[{ type: 'snap', id, 'allowed-by-revision': false }], 200]);
  t.same(await listPermissions(bob), []);
  await root.post(`${at}/revoke`, { 'brand-id': 'acme' });
  t.same([await listPermissions(acme), await file()], [[], 404]);
  t.equal((await store.anyone.get('/v2/assertions/account/acme', { accept: mediaType })).status, 200);
});

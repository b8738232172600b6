// The channels of a snap and their history, as the older publishing tools read them.
import t from 'tap';

import { days, hours } from '#domain/clock.ts';
import { startStore, type Client, type Reply, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addCollaborator, addRevision } from '#test/fixtures/packages/packages.ts';

async function withSnap(t: Parameters<typeof startStore>[0]) {
  const store = await startStore(t);
  await store.join('carol');
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  const release = (revision: number | null, channel: string, percentage?: number): Promise<Reply> =>
    revision === null
      ? ada.post(`/dev/api/snaps/${id}/close`, { channels: [channel] })
      : ada.post('/dev/api/snap-release/', {
          name: 'hello',
          revision: String(revision),
          channels: [channel],
          ...(percentage !== undefined && { progressive: { percentage, paused: false } }),
        });
  return { store, ada, id, release };
}

const add = (store: TestAppliance, id: string, revision: number, architecture: string): Promise<void> =>
  addRevision(store, id, revision, { details: { architectures: [architecture] } });

const tree = async (client: Client, id: string) =>
  (await client.get(`/dev/api/snaps/${id}/state?series=16`)).body.channel_map_tree;

t.test('the state of a snap', async (t) => {
  const { store, ada, id, release } = await withSnap(t);
  t.match(await ada.get(`/dev/api/snaps/${id}/state?series=16`), {
    status: 404,
    body: { error_list: [{ code: 'resource-not-found', message: /'hello' has no revisions yet/ }] },
  });
  for (const [revision, architecture] of [
    [1, 'amd64'],
    [2, 'arm64'],
    [3, 'amd64'],
  ] as const) {
    await add(store, id, revision, architecture);
  }
  const nothing = ['stable', 'candidate', 'beta', 'edge'].map((channel) => ({ channel, info: 'none' }));
  t.same(
    await tree(ada, id),
    { latest: { '16': { amd64: nothing, arm64: nothing } } },
    'a track that holds nothing lists every architecture: nobody takes it for complete',
  );

  for (const [revision, channel] of [
    [1, 'candidate'],
    [2, 'edge'],
    [3, 'edge/fix'],
  ] as const) {
    t.match(await release(revision, channel), { status: 200 });
  }
  t.match(await release(3, 'candidate', 30), { status: 200, body: { opened_channels: ['latest/candidate'] } });
  const expires = new Date(store.clock.now.getTime() + days(30)).toISOString();
  const channelTree = await tree(ada, id);
  t.same(channelTree, {
    latest: {
      '16': {
        amd64: [
          { channel: 'stable', info: 'none' },
          {
            channel: 'candidate',
            info: 'specific',
            revision: 1,
            version: 'v1',
            progressive: { revision: 3, version: 'v3', paused: false, percentage: 30 },
          },
          { channel: 'beta', info: 'tracking' },
          { channel: 'edge', info: 'tracking' },
          { channel: 'edge/fix', info: 'branch', revision: 3, version: 'v3', expires_at: expires },
        ],
        arm64: [
          { channel: 'stable', info: 'none' },
          { channel: 'candidate', info: 'none' },
          { channel: 'beta', info: 'none' },
          { channel: 'edge', info: 'specific', revision: 2, version: 'v2' },
        ],
      },
    },
  });
  t.same(
    (await release(null, 'beta')).body,
    { success: true, closed_channels: ['latest/beta'], channel_map_tree: channelTree },
    'the answers to a change show the same tree',
  );
  store.clock.advance(days(30));
  t.notMatch(JSON.stringify(await tree(ada, id)), /fix/, 'a branch that has expired is gone');
});

t.test('the channel map of a snap', async (t) => {
  const { store, ada, id, release } = await withSnap(t);
  const at = '/api/v2/snaps/hello/channel-map';
  const when = store.clock.now.toISOString();
  const track = { name: 'latest', 'creation-date': when, 'version-pattern': null };
  const empty = (await ada.get(at)).body;
  t.same([empty['channel-map'], empty.revisions, empty.snap.channels.length], [[], [], 4]);
  t.same(empty.snap.tracks, [{ ...track, status: 'active' }]);

  for (const revision of [1, 2]) await add(store, id, revision, 'amd64');
  await release(2, 'edge/fix');
  await release(1, 'stable');
  await release(2, 'stable', 25);
  await ada.patch('/v1/snap/hello', { 'default-track': 'latest' });
  const expires = new Date(store.clock.now.getTime() + days(30)).toISOString();
  const ordinary = { paused: null, percentage: null, 'current-percentage': null };
  const entry = { architecture: 'amd64', 'expiration-date': null, when };
  const { status, body } = await ada.get(at);
  t.equal(status, 200);
  t.same(body['channel-map'], [
    { ...entry, channel: 'latest/stable', revision: 1, progressive: ordinary },
    { ...entry, channel: 'latest/stable', revision: 2, progressive: { ...ordinary, paused: false, percentage: 25 } },
    { ...entry, channel: 'latest/edge/fix', revision: 2, progressive: ordinary, 'expiration-date': expires },
  ]);
  t.match(body.revisions, [
    { revision: 2, version: 'v2', architectures: ['amd64'], grade: 'stable', confinement: 'strict', base: null },
    { revision: 1, version: 'v1' },
  ]);
  t.match(body.snap, { id, name: 'hello', private: false, 'default-track': 'latest' });
  t.same(
    body.snap.channels.map(({ name, fallback }: Record<string, string>) => [name, fallback]),
    [
      ['latest/stable', null],
      ['latest/candidate', 'latest/stable'],
      ['latest/beta', 'latest/candidate'],
      ['latest/edge', 'latest/beta'],
      ['latest/edge/fix', 'latest/edge'],
    ],
  );
  t.same(body.snap.tracks, [{ ...track, status: 'default' }]);
});

t.test('the releases of a snap are its history', async (t) => {
  const { store, ada, id, release } = await withSnap(t);
  const at = '/api/v2/snaps/hello/releases';
  t.same((await ada.get(at, { 'content-type': 'application/json' })).body, { releases: [], revisions: [] });
  for (const revision of [1, 2, 3]) await add(store, id, revision, 'amd64');
  for (const [revision, channel, percentage] of [
    [1, 'stable'],
    [2, 'edge/fix'],
    [2, 'stable'],
    [3, 'stable', 20],
    [2, 'edge'],
    [null, 'edge'],
  ] as const) {
    store.clock.advance(hours(1));
    await release(revision, channel, percentage);
  }
  const short = (body: Reply['body']): string[] =>
    body.releases.map(
      ({
        channel,
        revision,
        progressive,
      }: {
        channel: string;
        revision: number;
        progressive: { percentage: number | null };
      }) => `${channel}=${revision}${progressive.percentage === null ? '' : ` ${progressive.percentage} %`}`,
    );
  const all = [
    'latest/edge=null',
    'latest/edge=2',
    'latest/stable=3 20 %',
    'latest/stable=2',
    'latest/edge/fix=2',
    'latest/stable=1',
  ];
  const { body } = await ada.get(at);
  t.same(short(body), all, 'newest first, with what was replaced and closed');
  t.same(body.releases[4], {
    architecture: 'amd64',
    branch: 'fix',
    channel: 'latest/edge/fix',
    'expiration-date': new Date(store.clock.now.getTime() + days(30) - hours(4)).toISOString(),
    progressive: { paused: null, percentage: null, 'current-percentage': null },
    revision: 2,
    risk: 'edge',
    track: 'latest',
    when: new Date(store.clock.now.getTime() - hours(4)).toISOString(),
  });
  t.same(Object.keys(body.revisions[0]).sort(), [
    ...['architectures', 'base', 'build-url', 'confinement', 'created-at', 'grade', 'revision', 'sha3-384', 'size'],
    ...['status', 'version'],
  ]);
  t.match(body.revisions, [
    { revision: 3, status: 'released' },
    { revision: 2, status: 'released' },
    { revision: 1, status: 'released' },
  ]);

  const pages = [];
  for (const page of [1, 2, 3]) pages.push((await ada.get(`${at}?page=${page}&size=4`)).body);
  t.same(pages.flatMap(short), all);
  t.same(
    pages.map(({ revisions }) => revisions.map(({ revision }: { revision: number }) => revision)),
    [[3, 2, 1], [], []],
  );
  for (const query of ['page=0', 'size=0', 'size=501', 'page=x', 'size=-1', 'page=1.5', 'page=12345678901']) {
    t.match(await ada.get(`${at}?${query}`), { status: 400, body: { error_list: [{ code: 'api-error' }] } }, query);
  }
  t.same((await ada.get(`${at}?page=9999999999&size=500`)).body, { releases: [], revisions: [] });

  store.clock.advance(days(30));
  t.same(short((await ada.get(at)).body)[0], 'latest/edge/fix=null', 'the end of a branch stands there like a closing');
  await release(3, 'edge/fix');
  t.same(short((await ada.get(at)).body).slice(0, 2), ['latest/edge/fix=3', 'latest/edge=null']);
});

t.test('a store that counts no devices has no metrics', async (t) => {
  const { store, ada, id } = await withSnap(t);
  const filter = { snap_id: id, metric_name: 'weekly_device_change', start: '2026-01-01', end: '2026-02-01' };
  const ask = (client: Client, ...filters: object[]): Promise<Reply> =>
    client.post('/dev/api/snaps/metrics', { filters });
  const none = { status: 'NO DATA', snap_id: id, buckets: [], series: [] };
  t.same((await ask(ada, filter, { ...filter, metric_name: 'installed_base_by_country' })).body, {
    metrics: [
      { ...none, metric_name: 'weekly_device_change' },
      { ...none, metric_name: 'installed_base_by_country' },
    ],
  });
  const missing = { status: 404, body: { error_list: [{ code: 'resource-not-found' }] } };
  t.match(await ask(await store.as('bob'), filter), missing);
  t.match(await ask(ada, filter, { ...filter, snap_id: 'nothing' }), missing);
  t.match(await ask(await store.as('ada', { permissions: ['package-view-releases'] }), filter), { status: 403 });
  for (const wrong of [[], [{ ...filter, metric_name: 'profit' }], [{ ...filter, snap_id: 7 }]]) {
    t.match(await ask(ada, ...wrong), { status: 400, body: { error_list: [{ code: 'api-error' }] } });
  }
});

t.test('the accounts and tokens that may read it', async (t) => {
  const { store, ada, id } = await withSnap(t);
  await add(store, id, 1, 'amd64');
  await addCollaborator(store, id, 'carol');
  await ada.post('/v1/charm', { name: 'hello' });
  const charm = (await ada.get('/v1/charm/hello')).body.metadata.id as string;
  const paths = [
    `/dev/api/snaps/${id}/state?series=16`,
    '/api/v2/snaps/hello/channel-map',
    '/api/v2/snaps/hello/releases',
  ];
  const statuses = async (client: Client): Promise<number[]> =>
    Promise.all(paths.map(async (path) => (await client.get(path)).status));
  const [yes, denied, absent] = [200, 403, 404].map((status) => paths.map(() => status));
  for (const [person, permissions, expected] of [
    ['ada', null, yes],
    ['ada', ['package-view'], yes],
    ['ada', ['package-view-releases'], yes],
    ['ada', ['package-manage-revisions'], yes],
    ['ada', ['package-manage'], yes],
    ['ada', ['package-view-metadata'], denied],
    ['ada', ['account-view-packages', 'store-view'], denied],
    ['carol', ['package-view'], yes],
    ['bob', null, absent],
    ['root', null, yes],
    ['root', ['store-view'], yes],
    ['root', ['package-view'], absent],
  ] as const) {
    const client = await store.as(person, permissions === null ? {} : { permissions: [...permissions] });
    t.same(await statuses(client), expected, `${person} with ${String(permissions)}`);
  }
  t.same(await statuses(store.anyone), [401, 401, 401]);
  t.match(await ada.get(`/dev/api/snaps/${charm}/state?series=16`), { status: 404 }, 'a charm is no snap');
  const [own, other] = [await (await store.as('bob')).get(paths[0]!), await ada.get('/dev/api/snaps/x/state')];
  const words = (reply: Reply, which: string): string =>
    reply.body.error_list[0].message.replace(which, 'ID') as string;
  t.equal(words(own, id), words(other, 'x'), 'what is not there and what is not yours is one answer');
});

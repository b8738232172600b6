// The responses to deploy and refresh of juju: the revision for a base, and the error if there is none.
import t from 'tap';

import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import {
  refreshCharms,
  askedOne,
  jammy,
  jujuHeaders,
  key,
  openBase,
  pushCharm,
  recorded,
  servingCharms,
} from '#test/fixtures/clients/juju.ts';

const noble = { ...jammy, channel: '24.04' };
const manifest = (...bases: string[]): string =>
  `bases:\n${bases.map((base) => `- {name: ${base.split('/')[0]!}, channel: "${base.split('/')[1]!}", architectures: [amd64]}\n`).join('')}`;

async function withCharm(
  t: Parameters<typeof startStore>[0],
): Promise<{ store: TestAppliance; ada: Client; id: string }> {
  const store = await startStore(t, servingCharms);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/charm', { name: 'hello' })).body;
  return { store, ada, id };
}

const release = (ada: Client, ...entries: [channel: string, revision: number | null][]) =>
  ada.post(
    '/v1/charm/hello/releases',
    entries.map(([channel, revision]) => ({ channel, revision })),
  );

t.test('a channel and a base select a revision, or the next safer channel if it has none for the base', async (t) => {
  const { store, ada, id } = await withCharm(t);
  await pushCharm(ada, 'hello', { bases: manifest('ubuntu/22.04') });
  await pushCharm(ada, 'hello', { bases: manifest('ubuntu/24.04', 'centos/9') });
  await release(ada, ['stable', 1], ['edge', 2]);
  const got = async (action: object) => {
    const {
      result,
      error,
      charm,
      'effective-channel': effective,
    } = await askedOne(store, { name: 'hello', ...action });
    return [result, error?.code ?? charm?.revision, effective];
  };
  t.same(await got({ channel: 'edge', base: noble }), ['install', 2, 'latest/edge']);
  t.same(await got({ channel: 'edge', base: jammy }), ['install', 1, 'latest/stable'], 'fallen back');
  t.same(await got({ base: jammy }), ['install', 1, 'latest/stable'], 'no channel is the stable one');
  t.same(await got({ channel: '', base: jammy }), ['install', 1, 'latest/stable']);
  t.same(await got({ action: 'download', base: jammy }), ['download', 1, 'latest/stable']);
  t.same(await got({ name: undefined, id, base: jammy }), ['install', 1, 'latest/stable']);
  t.same(await got({ channel: 'a/b/c/d' }), ['error', 'invalid-channel', undefined]);
  t.same(await got({ base: null }), ['error', 'missing-charm-base', undefined]);
  t.match(await askedOne(store, { name: 'hello', base: noble }), {
    error: {
      code: 'revision-not-found',
      extra: {
        releases: [
          { base: jammy, channel: 'latest/stable' },
          { base: { name: 'ubuntu', channel: '24.04' }, channel: 'latest/edge' },
          { base: { name: 'centos' }, channel: 'latest/edge' },
        ],
      },
    },
  });
  const open = await askedOne(store, { name: 'hello', channel: 'edge', base: openBase });
  t.same(open.error?.extra, { 'default-bases': [noble, { ...jammy, name: 'centos', channel: '9' }] }, 'the best first');
  t.match(await askedOne(store, { name: 'hello', base: { ...openBase, architecture: 's390x' } }), {
    error: { code: 'revision-not-found' },
  });
});

t.test('a charm that runs everywhere is offered for bases that juju can ask for', async (t) => {
  const { store, ada } = await withCharm(t);
  await pushCharm(ada, 'hello', { bases: 'bases: []\n' });
  await release(ada, ['stable', 1]);
  const { error } = await askedOne(store, { name: 'hello', base: openBase });
  const [first, ...others] = error?.extra?.['default-bases'] ?? [];
  t.same([first, others.length], [noble, 2]);
  t.match(await askedOne(store, { name: 'hello', base: first! }), { result: 'install', charm: { revision: 1 } });
});

t.test('the default track is used if a request names none', async (t) => {
  const { store, ada, id } = await withCharm(t);
  for (const version of ['1', '2']) await pushCharm(ada, 'hello', { files: { version } });
  const root = await store.as('root');
  await root.post('/internal/v1/packages/charm/hello/guardrails', { pattern: '^[0-9]+$' });
  await ada.post('/v1/charm/hello/tracks', [{ name: '14' }]);
  await release(ada, ['latest/stable', 1], ['14/stable', 2]);
  await ada.patch('/v1/charm/hello', { 'default-track': '14' });
  const channel = async (action: object) => (await askedOne(store, { name: 'hello', ...action }))['effective-channel'];
  t.equal(await channel({}), '14/stable');
  t.equal(await channel({ channel: 'edge' }), '14/stable');
  t.equal(await channel({ channel: 'latest/stable' }), 'latest/stable');
  const [result] = await refreshCharms(store, recorded.refresh({ id, revision: 1, channel: 'stable' }));
  t.equal(result?.['effective-channel'], 'latest/stable', 'what runs stays where it is');
});

t.test('a revision number returns a released revision only, even if no channel has it now', async (t) => {
  const { store, ada, id } = await withCharm(t);
  for (const version of ['1', '2', '3']) await pushCharm(ada, 'hello', { files: { version } });
  await release(ada, ['stable', 1], ['stable', 2]);
  const numbered = async (revision: number) =>
    (await askedOne(store, { name: 'hello', revision, base: null })).error?.code;
  t.same(
    [await numbered(1), await numbered(2), await numbered(3), await numbered(9)],
    [undefined, undefined, 'revision-not-found', 'revision-not-found'],
  );
  t.match(
    await askedOne(store, { name: 'hello', revision: 1, 'resource-revisions': [{ name: 'none', revision: 1 }] }),
    {
      error: { code: 'resource-not-found', message: /no revision 1 of the resource 'none'/ },
    },
  );
  const root = await store.as('root');
  await root.post('/internal/v1/packages/charm/hello/revisions/1/withdraw', { reason: 'broken' });
  t.match(await askedOne(store, { name: 'hello', revision: 1 }), { error: { code: 'revision-not-found' } });
  const [newer] = await refreshCharms(store, recorded.refresh({ id, revision: 1, channel: 'latest/stable' }));
  t.match(newer, { result: 'refresh', charm: { revision: 2 } });
});

t.test('a progressive release reaches no charm, and branches only by their names', async (t) => {
  const { store, ada } = await withCharm(t);
  for (const version of ['1', '2']) await pushCharm(ada, 'hello', { files: { version } });
  await release(ada, ['stable', 1], ['edge/fix', 2]);
  await ada.post('/v1/charm/hello/releases', [
    { channel: 'stable', revision: 2, progressive: { percentage: 99, paused: false } },
  ]);
  t.match(await askedOne(store, { name: 'hello' }), { charm: { revision: 1 } });
  t.match(await askedOne(store, { name: 'hello', channel: 'edge' }), { charm: { revision: 1 } });
  t.match(await askedOne(store, { name: 'hello', channel: 'edge/fix' }), {
    charm: { revision: 2 },
    'effective-channel': 'latest/edge/fix',
  });
  t.notMatch(JSON.stringify((await store.anyone.get('/v2/charms/info/hello')).body), /fix/);
});

t.test('a charm for x86_64 on 22.04/stable is found by juju, which asks for amd64 and 22.04', async (t) => {
  const { store, ada } = await withCharm(t);
  await pushCharm(ada, 'hello', { bases: 'bases: [{name: ubuntu, channel: 22.04/stable, architectures: [x86_64]}]\n' });
  await release(ada, ['stable', 1]);
  t.match(await askedOne(store, { name: 'hello', channel: 'stable', base: jammy }), { charm: { revision: 1 } });
});

t.test('the requested fields are returned, and no others', async (t) => {
  const { store, ada, id } = await withCharm(t);
  await pushCharm(ada, 'hello');
  await release(ada, ['stable', 1]);
  const body = {
    ...recorded.install('hello', 'stable', jammy),
    fields: ['revision', 'config-yaml', 'nonsense', '__proto__'],
  };
  t.same((await refreshCharms(store, body))[0]?.charm, { revision: 1, 'config-yaml': '{}\n' });
  const { context, actions } = recorded.install('hello', 'stable', jammy);
  const whole = (await refreshCharms(store, { context, actions }))[0]?.charm;
  t.match(whole, { id, name: 'hello', 'created-at': /^\d{4}-/, resources: [], license: '' });
  t.ok(Object.values(whole?.publisher ?? {}).every((value) => typeof value === 'string'));
});

t.test('a private charm looks like a missing one, in every request', async (t) => {
  const { store, ada, id } = await withCharm(t);
  await pushCharm(ada, 'hello');
  const unknown = (await ada.post('/v1/charm', { name: 'nobodys' })).body.id as string;
  await release(ada, ['stable', 1]);
  await ada.patch('/v1/charm/hello', { private: true });
  const same = async (ask: (name: string, id: string) => Promise<unknown>) => {
    const tell = async (name: string, itsId: string) =>
      JSON.stringify(await ask(name, itsId))
        .replaceAll(name, 'NAME')
        .replaceAll(itsId, 'ID');
    t.equal(await tell('hello', id), await tell('nothere', unknown));
  };
  await same((name) => askedOne(store, { name }));
  await same((_, id) => askedOne(store, { id }));
  await same((_, id) => askedOne(store, { id, revision: 1 }));
  await same((_, id) => refreshCharms(store, recorded.refresh({ id, revision: 1, channel: 'stable' })));
  const get = async (path: string) => {
    const { status, body } = await store.anyone.get(path, jujuHeaders);
    return [status, body];
  };
  await same((name) => get(`/v2/charms/info/${name}`));
  await same((name) => get(`/v2/charms/find?q=${name}`));
  await same((name) => get(`/v2/charms/resources/${name}/site/revisions`));
  await same((_, id) => get(`/api/v1/charms/download/${id}_1.charm`));
  await same((_, id) => get(`/api/v1/resources/download/charm_${id}.site_1`));
});

t.test('a request that no juju would send costs a 4xx and nothing else', async (t) => {
  const { store, ada } = await withCharm(t);
  await pushCharm(ada, 'hello');
  await release(ada, ['stable', 1]);
  const many = <One>(make: (at: number) => One, count = 100_000): One[] =>
    Array.from({ length: count }, (_, at) => make(at));
  const action = { action: 'install', 'instance-key': key, name: 'hello', base: jammy };
  const bodies: [body: unknown, status: number, code?: string][] = [
    [{ context: [], actions: many(() => ({})) }, 400],
    [{ context: many((at) => ({ 'instance-key': `${at}` }), 20_000), actions: [] }, 400],
    [{ context: [], actions: [{ ...action, name: 'x'.repeat(100_000) }] }, 400],
    [{ context: [], actions: [{ ...action, revision: '1' }] }, 400],
    [{ context: [], actions: [{ ...action, revision: 1.5 }] }, 400],
    [{ context: [], actions: [{ ...action, base: 'jammy' }] }, 400],
    [{ context: [], actions: [{ ...action, action: 'remove' }] }, 400],
    [{ context: [], actions: [action, action] }, 400],
    [{ context: [], actions: [{ ...action, action: 'refresh' }] }, 400],
    [{ context: [] }, 400],
    [[], 400],
    [{ context: [], actions: [], fields: many((at) => `f${at}`, 5000) }, 400],
  ];
  for (const [body, status] of bodies) {
    const reply = await store.anyone.post('/v2/charms/refresh', body, jujuHeaders);
    t.match(reply, { status: Buffer.byteLength(JSON.stringify(body)) > 1 << 20 ? 413 : status });
    t.equal(reply.headers.get('content-type'), 'application/json');
  }
  t.match(await askedOne(store, { ...action, unheard: 'of' } as object), { charm: { revision: 1 } }, 'passed over');
  t.match(await askedOne(store, { name: '../../etc/passwd' }), { error: { code: 'name-not-found' } });
  for (const path of [
    '/v2/charms/info/' + 'x'.repeat(5000),
    '/v2/charms/info/hello?channel=' + 'x'.repeat(500),
    '/v2/charms/info/hello?channel=no//channel',
    '/v2/charms/find?q=' + 'x'.repeat(500),
    '/v2/charms/find?q=a&q=b',
    '/v2/charms/nothing',
    '/api/v1/charms/download/..%2f_1.charm',
    '/api/v1/charms/download/x_0.charm',
    '/api/v1/charms/download/x_99999999999.charm',
    '/api/v1/resources/download/charm_x.y_1',
    '/api/v1/resources/download/snap_x.y_1',
  ]) {
    const { status, headers } = await store.anyone.get(path, jujuHeaders);
    t.ok([400, 404].includes(status), path.slice(0, 60));
    t.equal(headers.get('content-type'), 'application/json');
  }
});

t.test('without the switch none of it exists', async (t) => {
  const store = await startStore(t);
  for (const path of ['find', 'info/hello', 'resources/hello/site/revisions']) {
    t.match(await store.anyone.get(`/v2/charms/${path}`), { status: 404, body: { 'error-list': [{}] } });
  }
  t.match(await store.anyone.post('/v2/charms/refresh', recorded.metricsAlone), { status: 404 });
});

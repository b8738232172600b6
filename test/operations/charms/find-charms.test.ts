// What people find and read of charms before they deploy them.
import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { zip } from '#test/fixtures/archives.ts';
import { askedOne, jammy, pushCharm, servingCharms } from '#test/fixtures/juju.ts';

t.test(
  'charms are found by their names and summaries, the very name first, and narrowed by what they are',
  async (t) => {
    const store = await startStore(t, servingCharms);
    const [ada, bob] = [await store.as('ada'), await store.as('bob')];
    const publish = async (by: typeof ada, name: string, metadata = '') => {
      await by.post('/v1/charm', { name });
      await pushCharm(by, name, { metadata });
      await by.post(`/v1/charm/${name}/releases`, [{ channel: name === 'sql' ? 'edge' : 'stable', revision: 1 }]);
    };
    await publish(ada, 'my-sql', 'provides:\n  db: {interface: mysql}\ncategories: [databases]\nlicense: MIT\n');
    await publish(bob, 'sql');
    await publish(bob, 'sql-proxy', 'requires:\n  db: {interface: mysql}\n');
    await publish(ada, 'hidden-sql');
    await ada.patch('/v1/charm/hidden-sql', { private: true });
    await ada.post('/v1/charm', { name: 'registered-sql' });
    await ada.patch('/v1/charm/my-sql', { summary: '100% Safe_Database' });
    const names = async (query: string): Promise<string[]> =>
      (await store.anyone.get(`/v2/charms/find?${query}`)).body.results.map((one: { name: string }) => one.name);
    t.same(await names('q=sql'), ['sql', 'sql-proxy', 'my-sql']);
    t.same(await names('q=SQL&publisher=bob'), ['sql', 'sql-proxy']);
    t.same(await names('q='), ['my-sql', 'sql', 'sql-proxy']);
    t.same(await names(''), ['my-sql', 'sql', 'sql-proxy']);
    t.same(await names('q=100%25 safe_'), ['my-sql'], 'signs stand for themselves');
    t.same(await names('q=%25'), ['my-sql']);
    t.same(await names('q=sql&channel=edge'), ['sql']);
    t.same(await names('q=sql&type=bundle'), []);
    t.same(await names('q=sql&type=charm&category='), ['sql', 'sql-proxy', 'my-sql']);
    t.same(await names('q=sql&category=databases'), ['my-sql']);
    t.same(await names('q=sql&category=web'), []);
    t.same(await names('q=sql&platforms=s390x'), []);
    t.same(await names('q=sql&platforms=s390x,arm64'), ['sql', 'sql-proxy', 'my-sql']);
    t.same(await names('q=sql&relation-requires=mysql'), ['sql-proxy']);
    t.same(await names('q=sql&relation-provides=mysql'), ['my-sql']);

    const { body } = await store.anyone.get(
      '/v2/charms/find?q=my-sql&fields=result.summary,result.license,default-release.revision.bases.name',
    );
    const [{ id, ...found }] = body.results;
    t.type(id, 'string');
    t.same(found, {
      type: 'charm',
      name: 'my-sql',
      result: { summary: '100% Safe_Database', license: 'MIT' },
      'default-release': { revision: { bases: [{ name: 'ubuntu' }, { name: 'ubuntu' }] } },
    });
  },
);

t.test('what is said of a charm begins with what is deployed by default', async (t) => {
  const store = await startStore(t, servingCharms);
  const [ada, root] = [await store.as('ada'), await store.as('root')];
  await ada.post('/v1/charm', { name: 'hello' });
  for (const version of ['1', '2', '3']) await pushCharm(ada, 'hello', { files: { version } });
  await root.post('/internal/v1/packages/charm/hello/guardrails', { pattern: '^[0-9]+$' });
  await ada.post('/v1/charm/hello/tracks', [{ name: '14' }]);
  await ada.post('/v1/charm/hello/releases', [
    { channel: 'stable', revision: 1 },
    { channel: 'beta', revision: 3 },
    { channel: '14/candidate', revision: 2 },
  ]);
  await ada.patch('/v1/charm/hello', { 'default-track': '14' });
  const info = async (query = '') => (await store.anyone.get(`/v2/charms/info/hello?${query}`)).body;
  const map = (await info())['channel-map'] as {
    channel: { name: string; base: object };
    revision: { revision: number };
  }[];
  t.same(
    map.filter((_, at) => at % 2 === 0).map(({ channel, revision }) => [channel.name, channel.base, revision.revision]),
    [
      ['14/candidate', jammy, 2],
      ['latest/stable', jammy, 1],
      ['latest/beta', jammy, 3],
    ],
    'one entry for each base',
  );
  t.match(await info(), { 'default-release': { channel: { name: '14/candidate' }, revision: { version: '2' } } });
  t.match(await info('channel=edge'), { 'default-release': { channel: { name: 'latest/beta' } } });
  t.match(await info('channel=candidate'), { 'default-release': { channel: { name: 'latest/stable' } } });
  t.match(await store.anyone.get('/v2/charms/info/hello?channel=14/stable'), { status: 404 });
  t.same(Object.keys(await info('fields=nothing')), ['type', 'id', 'name'], 'names that are unknown are passed over');
  await root.post('/internal/v1/packages/charm/hello/revisions/2/withdraw', { reason: 'broken' });
  t.match(
    await info(),
    { 'default-release': { channel: { name: 'latest/stable' } } },
    'what was withdrawn is not given',
  );
});

t.test('of a charm it is told of what sort it is and which bundles deploy it, of a bundle which charms', async (t) => {
  const store = await startStore(t, servingCharms);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  for (const name of ['pages', 'pages-proxy', 'hidden']) {
    await ada.post('/v1/charm', { name });
    await pushCharm(ada, name, { metadata: 'license: Apache-2.0\ntags: [web]\n' });
    await ada.post(`/v1/charm/${name}/releases`, [{ channel: 'stable', revision: 1 }]);
  }
  await ada.patch('/v1/charm/hidden', { private: true });
  const bundle = async (name: string, charms: string[], channel = 'stable') => {
    await bob.post('/v1/charm', { name, type: 'bundle' });
    const applications = charms.map((charm, at) => `  a${at}: {charm: ${charm}}\n`).join('');
    await bob.push('charm', name, zip({ 'bundle.yaml': `tags: [sites]\napplications:\n${applications}` }));
    await bob.post(`/v1/charm/${name}/releases`, [{ channel, revision: 1 }]);
  };
  await bundle('site', ['pages', 'hidden', 'pages', 'elsewhere', './local']);
  await bundle('another', ['ch:pages'], 'edge');
  await bundle('proxied', ['pages-proxy']);
  await bundle('secret', ['pages']);
  await bob.patch('/v1/charm/secret', { private: true });
  const info = async (name: string, query = '') =>
    (await store.anyone.get(`/v2/charms/info/${name}?${query}`)).body as { id: string; result: object };
  const { id, result } = await info('pages');
  const web = { license: 'Apache-2.0', categories: [{ featured: false, name: 'web' }] };
  t.match(result, { ...web, 'contains-charms': [], 'used-by': ['another', 'site'] });
  t.match(await info('pages-proxy', 'fields=result.used-by'), { result: { 'used-by': ['proxied'] } });
  t.match(await info('site', 'fields=result'), {
    result: {
      ...{ license: '', categories: [{ name: 'sites' }], 'used-by': [] },
      'contains-charms': [
        { name: 'pages', 'package-id': id, 'store-url': '' },
        { name: 'hidden', 'package-id': '', 'store-url': '' },
        { name: 'elsewhere', 'package-id': '', 'store-url': '' },
      ],
    },
  });
  t.same((await info('site', 'fields=result.license')).result, { license: '' });
  t.match(await askedOne(store, { name: 'pages', channel: 'stable' }), { charm: { license: 'Apache-2.0' } });
  await bob.post('/v1/charm/another/releases', [{ channel: 'edge', revision: null }]);
  t.same(
    (await info('pages', 'fields=result.used-by')).result,
    { 'used-by': ['site'] },
    'what no channel holds is gone',
  );
});

t.test('a cache may give what is told of charms again for a minute', async (t) => {
  const store = await startStore(t, servingCharms);
  const ada = await store.as('ada');
  await ada.post('/v1/charm', { name: 'hello' });
  await pushCharm(ada, 'hello');
  await ada.post('/v1/charm/hello/releases', [{ channel: 'stable', revision: 1 }]);
  for (const path of ['/v2/charms/info/hello', '/v2/charms/find?q=hello']) {
    const reply = await store.anyone.get(path);
    const said = { 'content-type': 'application/json', 'cache-control': 'max-age=60', etag: /^"[0-9a-f]{64}"$/ };
    t.match([reply.status, Object.fromEntries(reply.headers)], [200, said]);
    const again = { 'if-none-match': reply.headers.get('etag') ?? '' };
    t.match(await store.anyone.get(path, again), { status: 304 });
    await ada.patch('/v1/charm/hello', { summary: `Says ${path}` });
    t.match(await store.anyone.get(path, again), { status: 200 });
  }
});

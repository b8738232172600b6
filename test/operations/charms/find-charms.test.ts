// Charms as people find and read them before a deployment.
import fc from 'fast-check';
import { pino } from 'pino';
import t from 'tap';

import { createCatalogKeeper } from '#jobs/packages/keep-catalog.ts';
import type { RevisionDetails } from '#records/revisions/revisions.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { zip } from '#test/fixtures/packages/archives.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { askedOne, jammy, pushCharm, servingCharms } from '#test/fixtures/clients/juju.ts';

t.test('charms are found by name and summary, the exact name first, and filtered by their properties', async (t) => {
  const store = await startStore(t, servingCharms);
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  const publish = async (publisher: typeof ada, name: string, metadata = '') => {
    await publisher.post('/v1/charm', { name });
    await pushCharm(publisher, name, { metadata });
    await publisher.post(`/v1/charm/${name}/releases`, [{ channel: name === 'sql' ? 'edge' : 'stable', revision: 1 }]);
  };
  await publish(ada, 'my-sql', 'provides:\n  db: {interface: mysql}\ncategories: [databases]\nlicense: MIT\n');
  await publish(bob, 'sql');
  await publish(bob, 'sql-proxy', 'requires:\n  db: {interface: mysql}\n');
  await publish(ada, 'hidden-sql');
  await ada.patch('/v1/charm/hidden-sql', { private: true });
  await ada.post('/v1/charm', { name: 'registered-sql' });
  await ada.patch('/v1/charm/my-sql', { summary: '100% Safe_Database' });
  const names = async (query: string): Promise<string[]> =>
    (await store.anyone.get(`/v2/charms/find?${query}`)).body.results.map((hit: { name: string }) => hit.name);
  t.same(await names('q=sql'), ['sql', 'sql-proxy', 'my-sql']);
  t.same(await names('q=SQL&publisher=bob'), ['sql', 'sql-proxy']);
  t.same(await names('publisher=bo'), []);
  t.same(await names('q='), ['my-sql', 'sql', 'sql-proxy']);
  t.same(await names(''), ['my-sql', 'sql', 'sql-proxy']);
  t.same(await names('q=100%25 safe_'), ['my-sql'], 'signs stand between words');
  t.same(await names('q=data'), ['my-sql'], 'where a word begins');
  t.same(await names('q=base'), [], 'and not in the midst of one');
  t.same(await names('q=ql'), ['my-sql', 'sql', 'sql-proxy'], 'but for the name');
  t.same(await names('q=sql proxy'), ['sql-proxy'], 'every word');
  for (const query of ['q=%25', 'q=_', 'q=:charm:', "q='; DROP", `q=${'x'.repeat(256)}`, 'q=sql&channel=//'])
    t.same(await names(query), [], query.slice(0, 20));
  t.same(await names('q=%20'), ['my-sql', 'sql', 'sql-proxy']);
  t.same(await names('q=sql&channel=edge'), ['sql']);
  t.same(await names('q=sql&type=bundle'), []);
  t.same(await names('q=sql&type=charm&category='), ['sql', 'sql-proxy', 'my-sql']);
  t.same(await names('q=sql&category=databases'), ['my-sql']);
  t.same(await names('q=sql&category=web'), []);
  t.same(await names('q=sql&platforms=s390x'), []);
  t.same(await names('q=sql&platforms=s390x,arm64'), ['sql', 'sql-proxy', 'my-sql']);
  t.same(await names('platforms=s390x,arm64'), ['my-sql', 'sql', 'sql-proxy']);
  t.same(await names('q=sql&relation-requires=mysql'), ['sql-proxy']);
  t.same(await names('q=sql&relation-provides=mysql'), ['my-sql']);

  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'rename', object: 'bob' }, async (tx) => {
    await tx.accounts.update({ ...(await tx.accounts.findByName('bob'))!, username: 'robert' });
  });
  t.same(await names('publisher=robert'), ['sql', 'sql-proxy'], 'by the name that a publisher has now');
  t.same(await names('publisher=bob'), []);

  const { body } = await store.anyone.get(
    '/v2/charms/find?q=my-sql&fields=result.summary,result.license,default-release.revision.bases.name',
  );
  const [{ id, ...result }] = body.results;
  t.type(id, 'string');
  t.same(result, {
    type: 'charm',
    name: 'my-sql',
    result: { summary: '100% Safe_Database', license: 'MIT' },
    'default-release': { revision: { bases: [{ name: 'ubuntu' }, { name: 'ubuntu' }] } },
  });
});

t.test('the description of a charm begins with the default release', async (t) => {
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

t.test('a charm shows its type and the bundles that deploy it, a bundle its charms', async (t) => {
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
    await bob.push(
      'charm',
      name,
      zip({ 'bundle.yaml': `tags: [sites]\napplications:\n${applications}`, 'README.md': '' }),
    );
    await bob.post(`/v1/charm/${name}/releases`, [{ channel, revision: 1 }]);
  };
  await bundle('site', ['pages', 'hidden', 'pages', 'elsewhere', 'local:jammy/local']);
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
      license: '',
      categories: [{ name: 'sites' }],
      'used-by': [],
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

t.test('a cache may serve the description of a charm again for a minute', async (t) => {
  const store = await startStore(t, servingCharms);
  const ada = await store.as('ada');
  await ada.post('/v1/charm', { name: 'hello' });
  await pushCharm(ada, 'hello');
  await ada.post('/v1/charm/hello/releases', [{ channel: 'stable', revision: 1 }]);
  for (const path of ['/v2/charms/info/hello', '/v2/charms/find?q=hello']) {
    const reply = await store.anyone.get(path);
    const expectedHeaders = {
      'content-type': 'application/json',
      'cache-control': 'max-age=60',
      etag: /^"[0-9a-f]{64}"$/,
    };
    t.match([reply.status, Object.fromEntries(reply.headers)], [200, expectedHeaders]);
    const again = { 'if-none-match': reply.headers.get('etag') ?? '' };
    t.match(await store.anyone.get(path, again), { status: 304 });
    await ada.patch('/v1/charm/hello', { summary: `Says ${path}` });
    t.match(await store.anyone.get(path, again), { status: 200 });
  }
});

interface Charm {
  name: string;
  title: string | null;
  summary: string | null;
  type: 'charm' | 'bundle';
  publisher: 'ada' | 'bob';
  /** The content of its channels, the most stable first. */
  held: { channel: string; details: RevisionDetails }[];
}

/** Puts charms into the records, as approved and released. */
const put = (store: TestAppliance, charms: readonly Charm[]) => {
  const at = store.clock.now.toISOString();
  return store.beside.records.change({ at, actor: 'test', action: 'fill', object: 'store' }, async (tx) => {
    const fill = filler(tx, at);
    for (const { name, title, summary, type, publisher, held } of charms) {
      const publisherId = store.ids[publisher];
      const row = { namespace: 'charm', name, type, title, summary, publisherId, status: 'published' } as const;
      await fill.package({ id: `${name}-id`, ...row });
      const existing = await tx.packages.find('charm', name);
      await tx.packages.describe({ ...existing!, title, summary });
      for (const [at, { channel, details }] of held.entries()) {
        const revision = at + 1;
        await fill.revision({ packageId: `${name}-id`, revision, createdBy: publisherId, details });
        await fill.release({ packageId: `${name}-id`, channel, revision });
      }
    }
  });
};

const detailsOf = (architecture: string, category: string, requires: string, provides: string): RevisionDetails => ({
  bases: [{ name: 'ubuntu', channel: '24.04', architecture }],
  said: { provides: [provides], requires: [requires], resources: {}, categories: [category], license: '' },
});

const find = async (store: TestAppliance, query: Record<string, string>): Promise<string[]> => {
  const reply = await store.anyone.get(`/v2/charms/find?${String(new URLSearchParams(query))}`);
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return reply.body.results.map(({ name }: { name: string }) => name);
};

t.test('among more charms than one response can list each is found, and the exact name comes first', async (t) => {
  const store = await startStore(t, servingCharms);
  await store.as('ada');
  await store.as('bob');
  const names = Array.from({ length: 1200 }, (_, at) => `web-${String(at).padStart(4, '0')}`);
  const held = (at: number) => [
    { channel: at === 1100 ? 'latest/edge' : 'latest/stable', details: detailsOf('amd64', 'web', 'db', 'http') },
  ];
  const charms = [...names, 'zz-web', 'zz-web-proxy', 'web'].map((name, at): Charm => ({
    name,
    title: null,
    summary: at === 1150 ? 'Says good-bye' : 'Says hello',
    type: 'charm',
    publisher: at === 1160 ? 'bob' : 'ada',
    held: held(at),
  }));
  await put(store, charms);
  const log = pino({ level: 'silent' });
  t.same(await createCatalogKeeper({ ...store.beside, now: () => store.clock.now, log }).job.run(), { made: 1203 });
  t.same(await find(store, { q: 'web-1199' }), ['web-1199']);
  t.same(await find(store, { q: 'bye' }), ['web-1150']);
  t.same(await find(store, { q: 'web bye' }), ['web-1150'], 'also where another word names very many');
  t.same(await find(store, { q: 'web', publisher: 'bob' }), ['web-1160'], 'or where only few are wanted');
  t.same(await find(store, { channel: 'edge' }), ['web-1100']);
  t.same(await find(store, { q: '' }), ['web', ...names.slice(0, 499)]);
  t.same(await find(store, { q: '', category: 'web', type: 'charm' }), ['web', ...names.slice(0, 499)]);
  t.same(await find(store, { q: 'says' }), ['web', ...names.slice(0, 499)]);
  t.same((await find(store, { q: 'web' }))[0], 'web');
  t.same((await find(store, { q: 'zz-web' })).slice(0, 2), ['zz-web', 'zz-web-proxy']);
});

t.test('the search finds the same charms as a scan of all charms', async (t) => {
  const store = await startStore(t, servingCharms);
  const people = { ada: await store.as('ada'), bob: await store.as('bob') };
  const words = ['sql', 'sq', 'my', 'post', 'gres', 'web', 'k8s'];
  const oneOf = (...values: string[]) => fc.constantFrom(...values);
  const textOf = (joint: string) =>
    fc
      .array(fc.array(oneOf(...words), { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 })
      .map((all) => all.map((parts) => parts.join('')).join(joint));
  const text = fc.option(textOf(' '));
  const details = fc.tuple(
    oneOf('amd64', 'arm64', 'all'),
    oneOf('web', 'data'),
    oneOf('mysql', 'http'),
    oneOf('mysql', 'http'),
  );
  const channels = ['latest/stable', 'latest/candidate', 'latest/edge'];
  const charm: fc.Arbitrary<Charm> = fc
    .record({
      name: textOf('-'),
      title: text,
      summary: text,
      type: fc.constantFrom('charm' as const, 'bundle' as const),
      publisher: fc.constantFrom('ada' as const, 'bob' as const),
      held: fc.tuple(fc.subarray(channels), fc.array(details, { minLength: 3, maxLength: 3 })),
    })
    .map(({ held: [some, tuples], ...rest }) => ({
      ...rest,
      held: some.map((channel, at) => ({ channel, details: detailsOf(...tuples[at]!) })),
    }));
  const different = fc.uniqueArray(charm, { minLength: 60, maxLength: 60, selector: ({ name }) => name });
  const [made = []] = fc.sample(different, 1);
  await put(store, made);
  const charms = new Map(made.map((entry) => [entry.name, entry]));

  const question = {
    q: textOf(' ').map((queryText) => queryText.slice(0, 6)),
    type: oneOf('charm', 'bundle'),
    publisher: oneOf('ada', 'bob'),
    channel: oneOf('latest/stable', 'edge', 'candidate'),
    category: oneOf('web', 'data'),
    platforms: oneOf('amd64', 'arm64', 'amd64,arm64', 's390x'),
    'relation-requires': oneOf('mysql', 'http'),
    'relation-provides': oneOf('mysql', 'http'),
  };
  const some = fc.subarray(Object.keys(question), { maxLength: 3 });
  const query = fc
    .tuple(fc.record(question), some)
    .map(([all, names]) => Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name))));
  const change = fc.record({ at: fc.nat(59), summary: textOf(' '), isClosed: fc.boolean() });
  let matchCount = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(query, { minLength: 1, maxLength: 4 }), change, async (queries, { at, ...to }) => {
      const changed = [...charms.values()][at]!;
      const path = `/v1/charm/${changed.name}`;
      if (to.isClosed && changed.held.length > 0) {
        const [{ channel }] = changed.held as [Charm['held'][number]];
        await people[changed.publisher].post(`${path}/releases`, [{ channel, revision: null }]);
        charms.set(changed.name, { ...changed, held: changed.held.slice(1) });
      } else {
        await people[changed.publisher].patch(path, { summary: to.summary });
        charms.set(changed.name, { ...changed, summary: to.summary });
      }
      for (const criteria of queries) {
        const expected = [...charms.values()].filter((each) => says(each, criteria)).map(({ name }) => name);
        const names = await find(store, criteria);
        t.strictSame(names.toSorted(), expected.sort(), JSON.stringify(criteria));
        const isVery = criteria.q !== undefined && expected.includes(criteria.q);
        if (isVery) t.equal(names[0], criteria.q, 'the very name first');
        matchCount += names.length;
      }
    }),
    { numRuns: 60 },
  );
  t.ok(matchCount > 100, `${matchCount} were found`);
});

/** Whether a charm matches, by a direct look at it. */
function says({ name, title, summary, type, publisher, held }: Charm, query: Record<string, string>): boolean {
  const { q = '', channel, platforms, category, type: packageType, publisher: publisherName } = query;
  const shown = held.find(
    (entry) => channel === undefined || entry.channel === `latest/${channel.replace('latest/', '')}`,
  );
  if (shown === undefined) return false;
  const { said: declared, bases } = shown.details;
  const texts = `${title ?? ''} ${summary ?? ''}`.split(' ');
  return (
    q
      .split(' ')
      .filter((word) => word !== '')
      .every(
        (word) => name.split('-').some((part) => part.includes(word)) || texts.some((text) => text.startsWith(word)),
      ) &&
    (packageType === undefined || packageType === type) &&
    (publisherName === undefined || publisherName === publisher) &&
    (category === undefined || declared!.categories!.includes(category)) &&
    (platforms === undefined || ['all', ...platforms.split(',')].includes(bases![0]!.architecture)) &&
    (query['relation-requires'] === undefined || declared!.requires.includes(query['relation-requires'])) &&
    (query['relation-provides'] === undefined || declared!.provides.includes(query['relation-provides']))
  );
}

// Build records: written by build hosts, watched by publishers.
import t from 'tap';

import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';

const on = (text: string): string => text.replace(/^(?:# ?)?build_records = .*$/m, 'build_records = true');
const edge = { name: 'latest/edge', track: 'latest', risk: 'edge', branch: null };
const platform = { name: 'ubuntu', channel: '24.04', architectures: ['amd64'] };

interface World {
  store: TestAppliance;
  ada: Client;
  host: Client;
  id: string;
}

async function withSource(t: Parameters<typeof startStore>[0]): Promise<World> {
  const store = await startStore(t, on);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/source', { name: 'hello', type: 'rockcraft' })).body;
  return { store, ada, host: await store.as('ada', { permissions: ['package-manage-revisions'] }), id };
}

const buildSet = (id: string, more: object = {}) => ({
  package: {
    name: 'hello',
    id,
    type: 'rockcraft',
    'commit-hash': 'c0ffee',
    'craft-channel': edge,
    'craft-revision': 7,
    'craft-version': '1.2',
  },
  platforms: [platform],
  triggers: [{ type: 'commit' }],
  builds: [{ status: 'waiting', platform }],
  ...more,
});

const list = async (client: Client, query = ''): Promise<{ id: string }[]> =>
  (await client.get(`/v1/craft/buildsets?package=source/hello${query}`)).body.buildsets;

const refused = (code: string, status: number, message?: RegExp) => ({
  status,
  body: { 'error-list': [{ code, ...(message && { message }) }] },
});

t.test('a build is watched from waiting to succeeded, and its revision knows its commit', async (t) => {
  const { store, ada, host, id } = await withSource(t);
  const added = await host.post('/internal/v1/craft/buildsets', buildSet(id));
  t.match(added, {
    status: 201,
    body: { id: /^[0-9a-f-]{36}$/, builds: [{ status: 'waiting', 'completed-at': null, errors: [] }] },
  });
  t.same(await list(ada), [added.body]);
  const [{ id: build }] = added.body.builds;
  const path = `/internal/v1/craft/buildsets/${added.body.id}/builds/${build}`;

  store.clock.advance(1000);
  t.match(await host.patch(path, { status: 'running', logs: { 'external-build-url': 'http://builds/1' } }), {
    status: 200,
    body: { status: 'running', 'completed-at': null, logs: { 'external-build-url': 'http://builds/1' } },
  });
  t.match(await host.patch(path, { status: 'waiting' }), refused('conflict', 409, /running cannot become waiting/));
  await ada.push('source', 'hello', 'content');
  t.match(await ada.post('/v1/source/hello/releases', [{ channel: 'edge', revision: 1 }]), { status: 200 });
  store.clock.advance(1000);
  t.match(await host.patch(path, { status: 'succeeded', 'binary-release': { channel: edge, revision: 1 } }), {
    status: 200,
    body: {
      status: 'succeeded',
      'completed-at': store.clock.now.toISOString(),
      'binary-release': { channel: edge, revision: 1 },
    },
  });
  t.match(await host.patch(path, { status: 'failed' }), refused('conflict', 409));
  t.match(await list(ada), [{ builds: [{ status: 'succeeded', logs: { 'external-build-url': 'http://builds/1' } }] }]);
  t.match((await ada.get('/v1/source/hello/revisions')).body.revisions, [{ revision: 1, craft: { commit: 'c0ffee' } }]);
  t.match((await ada.get('/v1/source/hello/releases')).body, {
    'craft-channel-map': [{ channel: 'latest/edge', commit: 'c0ffee', revision: 1, 'expiration-date': null }],
    revisions: [{ craft: { commit: 'c0ffee' } }],
  });
});

t.test('build sets are found by every filter, newest first', async (t) => {
  const { store, ada, host, id } = await withSource(t);
  const add = async (more: object): Promise<string> => {
    store.clock.advance(1);
    return (await host.post('/internal/v1/craft/buildsets', buildSet(id, more))).body.id;
  };
  const first = await add({});
  const second = await add({
    plane: 'staging',
    builds: [{ status: 'failed', platform, errors: [{ code: 'no-space', message: 'full' }] }],
  });
  const beta = { name: '2.0/beta/fix', track: '2.0', risk: 'beta', branch: 'fix' };
  const third = await add({ package: { ...buildSet(id).package, 'craft-channel': beta } });
  for (const [query, expected] of [
    ['', [third, second, first]],
    [`&buildset-id=${first}`, [first]],
    ['&buildset-id=nothing', []],
    ['&channel=edge', [second, first]],
    ['&channel=latest/edge', [second, first]],
    ['&channel=2.0/beta/fix', [third]],
    ['&channel=nonsense/x/y/z', []],
    ['&plane=staging', [second]],
    ['&status=failed', [second]],
    ['&status=waiting&channel=edge', [first]],
  ] as const) {
    t.same(
      (await list(ada, query)).map((set) => set.id),
      expected,
      query,
    );
  }
  t.match(await ada.get('/v1/craft/buildsets'), refused('api-error', 400, /^'package' is a required property/));
});

t.test('commit workflows are written, moved and found', async (t) => {
  const { store, ada, host } = await withSource(t);
  const path = '/internal/v1/craft/commit-workflows';
  const workflow = {
    package: 'source/hello',
    'commit-hash': 'c0ffee',
    'craft-revision': 7,
    'craft-channel': edge,
    buildsets: [],
    status: null,
  };
  const added = await host.post(path, { ...workflow, plane: 'p', domain: 'd' });
  t.match(added, { status: 201, body: { status: null, 'completed-at': null, 'commit-hash': 'c0ffee', buildsets: [] } });
  const own = `${path}/${added.body.id}`;
  t.match(await host.patch(own, { status: 'completed' }), refused('conflict', 409));
  t.match(await host.patch(own, { status: 'in-progress', buildsets: [{ id: 'one' }] }), {
    status: 200,
    body: { status: 'in-progress' },
  });
  store.clock.advance(1000);
  t.match(await host.patch(own, { status: 'completed' }), {
    body: { 'completed-at': store.clock.now.toISOString(), buildsets: [{ id: 'one' }] },
  });
  t.match(await host.patch(own, { status: 'in-progress' }), refused('conflict', 409));
  const find = async (query: string) =>
    ((await ada.get(`/v1/craft/commit-workflows?package=source/hello${query}`)).body['commit-workflows'] as unknown[])
      .length;
  for (const [query, count] of [
    ['', 1],
    ['&channel=edge', 1],
    ['&channel=beta', 0],
    ['&commit-hash=c0ffee', 1],
    ['&commit-hash=x', 0],
    [`&commit-workflow-id=${added.body.id}`, 1],
    ['&commit-workflow-id=x', 0],
    ['&plane=p&domain=d', 1],
    ['&plane=x', 0],
    ['&domain=x', 0],
  ] as const) {
    t.equal(await find(query), count, query);
  }
});

t.test('only publishers and collaborators of the package write about it', async (t) => {
  const { store, host, id } = await withSource(t);
  const path = '/internal/v1/craft/buildsets';
  const bob = await store.as('bob');
  const added = (await host.post(path, buildSet(id))).body;
  const unseen = /^There is no package with the id '\w+', or this account has no part in it\.$/;
  t.match(await bob.post(path, buildSet(id)), refused('resource-not-found', 404, unseen));
  t.match(await bob.post(path, buildSet('nobodys')), refused('resource-not-found', 404, unseen));
  t.match(
    await bob.patch(`${path}/${added.id}/builds/${added.builds[0].id}`, { status: 'running' }),
    refused('resource-not-found', 404),
  );
  const workflow = { 'craft-revision': 1, 'craft-channel': edge, buildsets: [], status: null, 'commit-hash': null };
  const workflows = '/internal/v1/craft/commit-workflows';
  t.match(
    await bob.post(workflows, { package: 'source/hello', ...workflow }),
    refused('resource-not-found', 404, /^Name hello not found in the source namespace, /),
  );
  for (const packageName of ['hello', '/', 'source/', '/hello', 'source/hello/more']) {
    const answer = await host.post(workflows, { package: packageName, ...workflow });
    t.match(
      answer,
      refused('api-error', 400, /^'[^']+' is not a package; write namespace\/name at \/package$/),
      packageName,
    );
  }
  t.match(await (await store.as('root')).post(path, buildSet(id)), { status: 201 });
  const viewer = await store.as('ada', { permissions: ['package-view'] });
  t.match(await viewer.post(path, buildSet(id)), refused('permission-required', 401));
  t.match(
    await host.post(path, buildSet(id, { package: { ...buildSet(id).package, name: 'other' } })),
    refused('api-error', 400),
  );
  const lying = { ...edge, track: '2.0' };
  t.match(
    await host.post(path, buildSet(id, { package: { ...buildSet(id).package, 'craft-channel': lying } })),
    refused('api-error', 400),
  );
  t.match(
    await host.post(
      path,
      buildSet(id, { builds: [{ status: 'waiting', platform, errors: [{ code: 'BAD', message: '' }] }] }),
    ),
    refused('api-error', 400),
  );
});

t.test('without access to a build or a workflow, the error about the body does not reveal it', async (t) => {
  const { store, host, id } = await withSource(t);
  const bob = await store.as('bob');
  const set = (await host.post('/internal/v1/craft/buildsets', buildSet(id))).body;
  const workflow = { 'craft-revision': 1, 'craft-channel': edge, buildsets: [], status: null, 'commit-hash': null };
  const made = (await host.post('/internal/v1/craft/commit-workflows', { package: 'source/hello', ...workflow })).body;
  const build = `/internal/v1/craft/buildsets/${set.id}/builds/${set.builds[0].id}`;
  const noBuild = `/internal/v1/craft/buildsets/nobodys/builds/none`;
  for (const [his, none] of [
    [build, noBuild],
    [`/internal/v1/craft/commit-workflows/${made.id}`, '/internal/v1/craft/commit-workflows/nobodys'],
  ] as const) {
    for (const body of [{ status: 'running' }, { status: 7 }, { other: 1 }]) {
      const [seen, unseen] = [await bob.patch(his, body), await bob.patch(none, body)];
      t.match(seen, refused('resource-not-found', 404), JSON.stringify(body));
      t.same(seen.body['error-list'], unseen.body['error-list'], 'as if it did not exist');
    }
    t.match(await host.patch(his, { status: 7 }), { status: 400 }, 'its own host is told what is wrong with it');
  }
});

t.test('an invalid package in the query is refused, once the caller is admitted', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const weak = await store.as('ada', { permissions: ['package-view-metadata'] });
  for (const address of ['/v1/craft/buildsets', '/v1/craft/commit-workflows']) {
    for (const packageName of ['alpha', '', '/', 'snap/', '/hello', 'snap/hello/more']) {
      const path = `${address}?package=${encodeURIComponent(packageName)}`;
      t.match(await ada.get(path), {
        status: 400,
        body: { 'error-list': [{ code: 'api-error', message: / at \/package$/ }] },
      });
      t.match(await weak.get(path), { status: 401, body: { 'error-list': [{ code: 'permission-required' }] } });
      t.match(await store.anyone.get(path), { status: 401 });
    }
    t.match(await ada.get(`${address}?package=nowhere/hello`), { status: 404 });
    t.match(await ada.get(`${address}?package=snap/hello`), { status: 404 });
  }
});

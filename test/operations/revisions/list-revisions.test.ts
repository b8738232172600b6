import { readFileSync } from 'node:fs';

import t from 'tap';

import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { pack, snapYaml } from '../../review/packed.ts';

const slim = [
  'architectures',
  'base',
  'build-url',
  'confinement',
  'created-at',
  'grade',
  'revision',
  'sha3-384',
  'size',
  'status',
  'version',
];

/** The members of each namespace, as the interface lists them; `craft` comes only where a commit is known. */
const members: Record<string, string[]> = {
  bin: ['created-at', 'created-by', 'revision', 'sha3-384', 'size', 'status', 'version'],
  charm: ['bases', 'created-at', 'errors', 'revision', 'sha3-384', 'size', 'status', 'version'],
  snap: [...slim, 'apps', 'created-by', 'type'].sort(),
  rock: ['created-at', 'created-by', 'revision', 'sha256', 'status'],
  sdk: ['bases', 'created-at', 'created-by', 'revision', 'sha3-384', 'size', 'status', 'version'],
  source: ['bases', 'created-at', 'created-by', 'revision', 'sha3-384', 'size', 'status', 'version'],
};

t.test('each namespace has its members', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const bases = [{ architecture: 'amd64', channel: '22.04', name: 'ubuntu' }];
  for (const [namespace, names] of Object.entries(members)) {
    const { id } = (await ada.post(`/v1/${namespace}`, { name: 'hello' })).body;
    await addRevision(store, id, 1, { details: namespace === 'snap' ? {} : { bases } });
    const [usual] = (await ada.get(`/v1/${namespace}/hello/revisions`)).body.revisions;
    t.same(Object.keys(usual).sort(), namespace === 'snap' ? slim : names, namespace);
    const [full] = (await ada.get(`/v1/${namespace}/hello/revisions?fields=${names.join(',')}`)).body.revisions;
    t.same(Object.keys(full).sort(), names, `${namespace}: every member when it is named`);
    for (const name of names) {
      const [revision] = (await ada.get(`/v1/${namespace}/hello/revisions?fields=${name}`)).body.revisions;
      t.same(Object.keys(revision), [name], `${namespace}: ${name}`);
    }
    if (names.includes('bases')) t.same(usual.bases, bases);
    if (names.includes('errors')) t.equal(usual.errors, null);
    if (names.includes('created-by')) t.equal(full['created-by'], store.ids.ada, 'a person is an account id');
  }
});

t.test('a snap shows its content, in the words of the clients', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  await ada.push('snap', 'tiny-app', await snapFixture('app-xz'));
  t.same((await ada.get('/v1/snap/tiny-app/revisions')).body, {
    revisions: [
      {
        architectures: ['amd64'],
        base: 'core22',
        'build-url': null,
        confinement: 'strict',
        'created-at': '2026-03-01T12:00:00.000Z',
        grade: 'stable',
        revision: 1,
        'sha3-384': '2a4b6e97ee515b65e61092ff13ec9aa3bd7a2e21cf4c2a5ee7dd4123b1afbd3fdb5e40c6568ae87e2ea85c9c0cf2cea5',
        size: 4096,
        status: 'approved',
        version: '1.10',
      },
    ],
  });
  t.same((await ada.get('/v1/snap/tiny-app/revisions?fields=apps,type,created-by')).body, {
    revisions: [{ apps: ['run', 'other'], type: 'app', 'created-by': store.ids.ada }],
  });
  t.same(
    Object.keys((await ada.get('/v1/snap/tiny-app/revisions?fields=')).body.revisions[0]).sort(),
    members['snap'],
    'an empty list means all',
  );
});

t.test('the newest hundred are listed, newest first, unless another number is requested', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/bin', { name: 'hello' })).body;
  for (let number = 1; number <= 120; number++) await addRevision(store, id, number);
  const numbers = async (query: string): Promise<number[]> =>
    ((await ada.get(`/v1/bin/hello/revisions${query}`)).body.revisions as { revision: number }[]).map(
      ({ revision }) => revision,
    );
  const newest = (count: number): number[] => [...Array(count).keys()].map((at) => 120 - at);
  t.same(await numbers(''), newest(100));
  t.same(await numbers('?limit=3'), [120, 119, 118]);
  t.same(await numbers('?limit=0'), []);
  t.same(await numbers('?limit=110'), newest(110));
  t.same(await numbers('?limit=9999999999'), newest(120));
  t.same(await numbers('?revision=7'), [7]);
  t.same(await numbers('?revision=0000000007'), [7]);
  t.same(await numbers('?revision=0'), []);
  t.same(await numbers('?revision=121'), [], 'one that is not there is no refusal');
  t.same(await numbers('?revision=7&limit=5'), [7]);
  t.same(await numbers('?revision=7&limit=0'), []);
});

t.test('at most five hundred are returned at once', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/bin', { name: 'hello' })).body;
  for (let number = 1; number <= 505; number++) await addRevision(store, id, number);
  t.equal((await ada.get('/v1/bin/hello/revisions?limit=501')).body.revisions.length, 500);
  t.equal((await ada.get('/v1/bin/hello/revisions?limit=9999999999')).body.revisions.length, 500);
});

t.test('numbers are written in digits', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  for (const name of ['limit', 'revision']) {
    for (const value of ['', '-1', '1.0', '1e3', '0x10', ' 1', 'ten', '٣', '12345678901']) {
      const reply = await ada.get(`/v1/bin/hello/revisions?${name}=${encodeURIComponent(value)}`);
      t.match(
        reply,
        { status: 400, body: { 'error-list': [{ code: 'api-error', message: new RegExp(` at /${name}$`) }] } },
        `${name}=${value}`,
      );
    }
  }
});

t.test('the recipe of a revision is returned on request', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  await addRevision(store, id, 1, { craftYaml: 'name: hello\n' });
  await addRevision(store, id, 2);
  const list = async (query: string) => (await ada.get(`/v1/snap/hello/revisions${query}`)).body.revisions;
  t.match(await list('?include-craft-yaml=true'), [
    { revision: 2, 'craft-yaml': null },
    { revision: 1, 'craft-yaml': 'name: hello\n' },
  ]);
  t.same(await list('?include-craft-yaml=true&fields=revision&revision=1'), [
    { revision: 1, 'craft-yaml': 'name: hello\n' },
  ]);
  for (const query of ['', '?include-craft-yaml=false', '?include-craft-yaml=', '?include-craft-yaml=1']) {
    t.notOk(
      (await list(query)).some((revision: object) => 'craft-yaml' in revision),
      query,
    );
  }
});

t.test('a revision shows whether it is or was in a channel', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  await ada.push('bin', 'hello', 'content');
  const status = async (): Promise<string> => (await ada.get('/v1/bin/hello/revisions')).body.revisions[0].status;
  t.equal(await status(), 'approved');
  await ada.post('/v1/bin/hello/releases', [{ channel: 'edge', revision: 1 }]);
  t.equal(await status(), 'released');
  await ada.post('/v1/bin/hello/releases', [{ channel: 'edge', revision: null }]);
  t.equal(await status(), 'released', 'also when the channel was closed');
});

t.test('a snap with the address of its build shows it', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'hello' });
  const file = pack(t, {
    'meta/snap.yaml': snapYaml('hello'),
    'snap/manifest.yaml': 'image-info: {build_url: "https://builds.internal/7"}\n',
  });
  t.match((await ada.push('snap', 'hello', readFileSync(file))).body.revisions, [{ status: 'approved' }]);
  t.match((await ada.get('/v1/snap/hello/revisions')).body.revisions, [{ 'build-url': 'https://builds.internal/7' }]);
});

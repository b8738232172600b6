// Resources: the declarations of revisions, and the pushes for them.
import { createHash } from 'node:crypto';

import t from 'tap';

import { charm } from '#test/fixtures/packages/archives.ts';
import { startStore, type Client, type Reply, type TestAppliance } from '#test/fixtures/appliance.ts';
import { componentFile } from '#test/fixtures/packages/components.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

const declared =
  'resources:\n  config:\n    type: file\n    filename: config.txt\n    optional: true\n  image:\n    type: oci-image\n';

async function withCharm(t: Parameters<typeof startStore>[0]): Promise<{ store: TestAppliance; ada: Client }> {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/charm', { name: 'hello' });
  const [review] = (await ada.push('charm', 'hello', charm('hello', {}, declared))).body.revisions;
  if (review.status !== 'approved') throw new Error(`cannot test resources: ${JSON.stringify(review)}`);
  return { store, ada };
}

async function pushResource(
  store: TestAppliance,
  client: Client,
  name: string,
  content: string,
  more: object = {},
): Promise<Reply> {
  const upload = await client.upload(content);
  const pushed = await client.post(`/v1/charm/hello/resources/${name}/revisions`, { 'upload-id': upload, ...more });
  if (pushed.status !== 200) return pushed;
  await store.appliance.reviewed();
  return client.get(pushed.body['status-url']);
}

const refused = (code: string, status: number, message?: RegExp) => ({
  status,
  body: { 'error-list': [{ code, ...(message && { message }) }] },
});

t.test('a resource is declared by a revision, pushed, and listed with all its digests', async (t) => {
  const { store, ada } = await withCharm(t);
  t.same((await ada.get('/v1/charm/hello/resources')).body.resources, [
    { name: 'config', type: 'file', optional: true },
    { name: 'image', type: 'oci-image', optional: false },
  ]);
  t.same((await ada.get('/v1/charm/hello/resources/config/revisions')).body, { revisions: [] });
  t.match(await pushResource(store, ada, 'config', 'first'), {
    body: { revisions: [{ status: 'approved', revision: 1, errors: null }] },
  });
  t.match(await pushResource(store, ada, 'config', '', { type: 'file', bases: [{ architectures: ['amd64'] }] }), {
    body: { revisions: [{ status: 'approved', revision: 2 }] },
  });
  const { revisions } = (await ada.get('/v1/charm/hello/resources/config/revisions')).body;
  const hex = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex');
  t.same(
    revisions,
    ['first', ''].map((text, at) => ({
      bases: [{ name: 'all', channel: 'all', architectures: [at === 0 ? 'all' : 'amd64'] }],
      'created-at': store.clock.now.toISOString(),
      name: 'config',
      revision: at + 1,
      sha256: hex('sha256', text),
      'sha3-384': hex('sha3-384', text),
      sha384: hex('sha384', text),
      sha512: hex('sha512', text),
      size: text.length,
      type: 'file',
      'updated-at': null,
      'updated-by': null,
    })),
  );
  t.match((await ada.get('/v1/charm/hello/resources?revision=1')).body.resources, [
    { name: 'config', revision: 2 },
    { name: 'image' },
  ]);
  t.match(await ada.get('/v1/charm/hello/resources?revision=7'), refused('resource-not-found', 404));
  t.match(
    await pushResource(store, ada, 'config', 'first'),
    { body: { revisions: [{ status: 'approved', revision: 1 }] } },
    'the same content again',
  );
  t.equal((await ada.get('/v1/charm/hello/resources/config/revisions')).body.revisions.length, 2);
  t.equal(
    (await ada.get('/v1/charm/hello/revisions/review')).body.revisions.length,
    4,
    'reviews of both kinds are listed',
  );
});

t.test('bases can be changed, and entries of one base merge', async (t) => {
  const { store, ada } = await withCharm(t);
  await pushResource(store, ada, 'config', 'first');
  const path = '/v1/charm/hello/resources/config/revisions';
  const update = (revision: number, bases: object[]) =>
    ada.patch(path, { 'resource-revision-updates': [{ revision, bases }] });
  t.match(
    await update(1, [
      { name: 'ubuntu', channel: '22.04', architectures: ['riscv64', 'amd64'] },
      { name: 'ubuntu', channel: '24.04', architectures: ['amd64'] },
      { name: 'ubuntu', channel: '22.04', architectures: ['amd64', 'arm64'] },
    ]),
    { status: 200, body: { 'num-resource-revisions-updated': 1 } },
  );
  t.match((await ada.get(path)).body.revisions, [
    {
      bases: [
        { name: 'ubuntu', channel: '22.04', architectures: ['riscv64', 'amd64', 'arm64'] },
        { name: 'ubuntu', channel: '24.04', architectures: ['amd64'] },
      ],
      'updated-at': store.clock.now.toISOString(),
      'updated-by': store.ids.ada,
    },
  ]);
  const base = { name: 'ubuntu', channel: '22.04', architectures: ['amd64'] };
  t.match(await update(2, [base]), refused('resource-not-found', 404, /no revision 2/));
  t.match(await update(1, []), refused('api-error', 400));
  t.match(await update(1, [base, base]), refused('api-error', 400, /given twice/));
  t.match(await update(1, [{ valueOf: 1 }, { valueOf: 1 }]), refused('api-error', 400));
  t.match(await update(1, [{ ...base, architectures: ['a', 'a'] }]), refused('api-error', 400));
  t.match(
    await ada.patch(path, {
      'resource-revision-updates': [
        { revision: 1, bases: [base] },
        { revision: 1, bases: [{ ...base, name: 'x' }] },
      ],
    }),
    refused('api-error', 400, /named twice/),
  );
  t.equal((await ada.get(path)).body.revisions[0].bases.length, 2);
});

t.test('an undeclared resource cannot be pushed, nor as another type', async (t) => {
  const { store, ada } = await withCharm(t);
  t.match(
    await pushResource(store, ada, 'other', 'x'),
    refused('resource-not-found', 404, /^'hello' has no resource 'other'/),
  );
  t.match(await ada.get('/v1/charm/hello/resources/other/revisions'), refused('resource-not-found', 404));
  t.match(
    await pushResource(store, ada, 'image', 'x', { type: 'file' }),
    refused('api-error', 400, /declared as oci-image, not as file at \/type/),
  );
  t.match(await pushResource(store, ada, 'config', 'x', { 'package-revision': 0 }), refused('api-error', 400));
  t.match(await pushResource(store, ada, 'config', 'x', { more: 1 }), refused('api-error', 400));
});

t.test('an upload belongs to its first push; the same push again gets the same response', async (t) => {
  const { store, ada } = await withCharm(t);
  const upload = await ada.upload('content');
  const push = (path: string, more = {}) =>
    ada.post(`/v1/charm/hello/${path}revisions`, { 'upload-id': upload, ...more });
  const first = await push('resources/config/');
  t.equal(first.status, 200);
  await store.appliance.reviewed();
  t.same((await push('resources/config/')).body, first.body);
  t.match(await push('resources/config/', { type: 'oci-image' }), refused('api-error', 400, /declared as file/));
  t.match(await push('resources/image/'), refused('resource-not-found', 404));
  t.match(await push(''), refused('resource-not-found', 404));
  const entries = await store.beside.records.audit.list(0, 1000);
  const pushes = entries.filter(({ action }) => action === 'push_resource');
  t.match(pushes, [{ actor: store.ids.ada, object: 'charm/hello' }]);
  t.match(JSON.parse(pushes[0]?.details ?? ''), { upload, resource: 'config', from: /./, size: 7 });
  t.equal(pushes.length, 1, 'in the log once');
});

t.test("a snap's component belongs to one of its revisions, and has its architectures", async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  for (const [revision, architectures] of [
    [1, ['amd64']],
    [2, ['arm64']],
  ] as const) {
    await addRevision(store, id, revision, { details: { architectures: [...architectures] } });
    await store.beside.records.change(
      { at: store.clock.now.toISOString(), actor: 'test', action: 'declare', object: 'snap/hello' },
      (tx) =>
        tx.resources.declare(id, revision, {
          name: revision === 1 ? 'old' : 'new',
          type: 'component/standard',
          optional: true,
        }),
    );
  }
  const push = async (name: string, body: object): Promise<Reply> => {
    const upload = await ada.upload(componentFile(`hello+${name}`, { text: JSON.stringify(body) }));
    const reply = await ada.post(`/v1/snap/hello/resources/${name}/revisions`, { 'upload-id': upload, ...body });
    await store.appliance.reviewed();
    return reply;
  };
  t.match(await push('new', { type: 'component/standard' }), { status: 200 }, 'the newest revision declares it');
  t.match(await push('old', {}), refused('resource-not-found', 404), 'the newest revision does not declare it');
  t.match(await push('old', { 'package-revision': 1 }), { status: 200 });
  t.match(await push('old', { 'package-revision': 2 }), refused('resource-not-found', 404));
  t.match(await push('new', { bases: [{ architectures: ['all'] }] }), refused('api-error', 400));
  for (const [name, architecture] of [
    ['old', 'amd64'],
    ['new', 'arm64'],
  ] as const) {
    const [revision] = (await ada.get(`/v1/snap/hello/resources/${name}/revisions`)).body.revisions;
    t.match(revision, { architectures: [architecture], type: 'component/standard', revision: 1 });
    t.notOk('bases' in revision);
    const bases = [{ architectures: ['all'] }];
    t.match(
      await ada.patch(`/v1/snap/hello/resources/${name}/revisions`, {
        'resource-revision-updates': [{ revision: 1, bases }],
      }),
      refused('api-error', 400),
    );
  }
});

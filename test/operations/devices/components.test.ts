// The components of a snap: a device is offered the released ones of its revision, and fetches no others.
// Own process: its revisions share one content, and a process caches by content.
import { createHash } from 'node:crypto';

import t, { type Test } from 'tap';

import type { SnapResource } from '#contract/wire.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { componentFile } from '#test/fixtures/packages/components.ts';
import { deviceHeaders, servingSnaps } from '#test/fixtures/devices.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

const install = { action: 'install', 'instance-key': 'install-1', name: 'tiny-app', channel: 'edge' };
const packageYaml = `name: tiny-app
version: '2'
components:
  words: {type: standard, description: All words}
  more: {type: standard}
`;

/** A revision of a snap that declares two components. */
async function addSnapWithComponents(store: TestAppliance, id: string, revision: number): Promise<void> {
  await addRevision(store, id, revision, { packageYaml });
  const at = store.clock.now.toISOString();
  await store.beside.records.change({ at, actor: 'test', action: 'declare', object: id }, async (tx) => {
    for (const name of ['more', 'words'])
      await tx.resources.declare(id, revision, { name, type: 'component/standard', optional: true });
  });
}

/** A store with a snap that declares components, and a device that asks for it. */
async function serving(t: Test) {
  const store = await startStore(t, servingSnaps);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body as { id: string };
  await addSnapWithComponents(store, id, 1);
  const push = async (name: string, text: string, more = {}): Promise<void> => {
    const content = componentFile(`tiny-app+${name}`, { text });
    const body = { 'upload-id': await ada.upload(content), type: 'component/standard', ...more };
    const reply = await ada.post(`/v1/snap/tiny-app/resources/${name}/revisions`, body);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    await store.appliance.reviewed();
  };
  const release = async (...releases: object[]) => {
    const reply = await ada.post('/v1/snap/tiny-app/releases', releases);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    return reply.body.released;
  };
  const refresh = async (action: object, fields: string[]): Promise<SnapResource[] | undefined> => {
    const body = { context: [], actions: [{ ...install, ...action }], fields };
    const reply = await store.anyone.post('/v2/snaps/refresh', body, deviceHeaders());
    return reply.body.results[0].snap?.resources;
  };
  /** The components that a device is offered, as `words 1`. */
  const readComponents = async (action: object = {}): Promise<string[] | undefined> =>
    (await refresh(action, ['revision', 'resources']))?.map(({ name, revision }) => `${name} ${String(revision)}`);
  const get = (path: string) => store.anyone.get(`/api/v1/snaps/download/${id}_${path}`, deviceHeaders());
  return { store, ada, id, push, release, refresh, told: readComponents, get };
}

t.test('a device is offered the components that were released with a snap, and fetches them', async (t) => {
  const { store, ada, id, push, release, refresh, told: readComponents, get } = await serving(t);
  await push('words', 'all words');
  const content = componentFile('tiny-app+words', { text: 'all words' });
  t.equal((await get('words_1.comp')).status, 404, 'nothing is released');
  await release({ channel: 'edge', revision: 1, resources: [{ name: 'words', revision: 1 }] });
  t.equal(await refresh({}, ['revision']), undefined, 'a device that does not ask is told nothing');
  const address = `/api/v1/snaps/download/${id}_words_1.comp`;
  t.same(await refresh({}, ['revision', 'resources']), [
    {
      name: 'words',
      type: 'component/standard',
      revision: 1,
      'created-at': store.clock.now.toISOString(),
      description: 'All words',
      download: {
        url: `http://127.0.0.1:8080${address}`,
        size: content.length,
        'sha3-384': createHash('sha3-384').update(content).digest('hex'),
        deltas: [],
      },
    },
  ]);
  const bytes = await fetch(`${store.url}${address}`, { headers: { range: 'bytes=4-' } });
  t.same([bytes.status, Buffer.from(await bytes.arrayBuffer())], [206, content.subarray(4)]);
  for (const path of ['words_9.comp', 'none_1.comp', 'words_1.snap', '1.comp', '-_1.comp'])
    t.equal((await get(path)).status, 404, path);
  await ada.patch('/v1/snap/tiny-app', { private: true });
  t.equal((await get('words_1.comp')).status, 404, 'private ones are not there');
  t.equal(await readComponents(), undefined);
});

t.test('a component that is pushed after the release reaches no device before the next release', async (t) => {
  const { store, push, release, told: readComponents, get } = await serving(t);
  await push('words', 'all words');
  t.match(await release({ channel: 'edge', revision: 1 }), [
    {
      resources: [
        { name: 'more', revision: null },
        { name: 'words', revision: 1 },
      ],
    },
  ]);
  await push('words', 'other words');
  await push('more', 'more');
  t.same(await readComponents(), ['words 1']);
  t.same(await readComponents({ revision: 1, channel: undefined }), ['words 1'], 'nor by the number of the revision');
  t.same([(await get('words_2.comp')).status, (await get('more_1.comp')).status], [404, 404], 'nor by a guess');
  const { body: info } = await store.anyone.get('/v2/snaps/info/tiny-app?fields=resources', deviceHeaders());
  t.same(
    info['channel-map'].map((entry: { resources: { name: string }[] }) => entry.resources.map(({ name }) => name)),
    [['words']],
  );
  await release({ channel: 'edge', revision: 1, resources: [{ name: 'words', revision: 2 }] });
  t.same(await readComponents(), ['words 2', 'more 1'], 'the next release names one, and takes up the other');
  t.equal((await get('more_1.comp')).status, 200);
  t.equal((await get('words_1.comp')).status, 200, 'a device that was told of one before may go on with it');
});

t.test('each channel serves the components of its own release', async (t) => {
  const { store, id, push, release, told: readComponents } = await serving(t);
  await push('words', 'all words');
  await release({ channel: 'edge', revision: 1 });
  await push('words', 'other words');
  t.match(await release({ channel: 'beta', revision: 1 }), [{ resources: [{}, { revision: 1 }] }], 'as it was tested');
  await release({ channel: 'candidate', revision: 1, resources: [{ name: 'words', revision: 2 }] });
  t.same(
    [await readComponents({ channel: 'edge' }), await readComponents({ channel: 'candidate' })],
    [['words 1'], ['words 2']],
  );
  await release({ channel: 'candidate', revision: 1, resources: [{ name: 'words', revision: 0 }] });
  t.same(await readComponents({ channel: 'candidate' }), []);
  await addSnapWithComponents(store, id, 2);
  t.match(
    await release({ channel: 'edge', revision: 2 }),
    [{ resources: [{ revision: null }, { revision: null }] }],
    'a component of another revision does not come along',
  );
  t.same(await readComponents({ channel: 'edge' }), []);
  await push('words', 'words of the second', { 'package-revision': 2 });
  t.match(await release({ channel: 'edge', revision: 2 }), [{ resources: [{}, { name: 'words', revision: 3 }] }]);
  t.same(await readComponents({ channel: 'edge' }), ['words 3']);
});

t.test('a progressive release gives its own components to the devices that it reaches', async (t) => {
  const { push, release, told: readComponents } = await serving(t);
  await push('words', 'all words');
  await release({ channel: 'edge', revision: 1 });
  await push('words', 'other words');
  const words = { resources: [{ name: 'words', revision: 2 }] };
  await release({ channel: 'edge', revision: 1, progressive: { percentage: 99.999999 }, ...words });
  t.same(await readComponents(), ['words 2']);
  await release({ channel: 'edge', revision: 1, progressive: { percentage: 0.000001 }, ...words });
  t.same(await readComponents(), ['words 1']);
});

t.test('a device that keeps a revision gets the components of its newest release', async (t) => {
  const { store, id, push, release, told: readComponents, get } = await serving(t);
  await push('words', 'all words');
  await release({ channel: 'edge', revision: 1 });
  await addSnapWithComponents(store, id, 2);
  await release({ channel: 'edge', revision: 2 });
  await push('words', 'late words', { 'package-revision': 1 });
  const refreshAction = { action: 'refresh', revision: 1, 'snap-id': id, name: undefined };
  const body = {
    context: [{ 'instance-key': 'install-1', 'snap-id': id, revision: 1, 'tracking-channel': 'edge' }],
    actions: [{ 'instance-key': 'install-1', ...refreshAction }],
    fields: ['resources', 'revision'],
  };
  const reply = await store.anyone.post('/v2/snaps/refresh', body, deviceHeaders());
  t.match(reply.body.results, [{ snap: { revision: 1, resources: [{ name: 'words', revision: 1 }] } }]);
  t.equal(reply.body.results[0].snap.resources.length, 1);
  t.same(await readComponents(), [], 'the channel has moved on');
  t.equal((await get('words_2.comp')).status, 404);
});

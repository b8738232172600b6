// Releases that carry resources, progress by percentage, and end.
import t from 'tap';

import { charm } from '#test/fixtures/packages/archives.ts';
import { snapFixture, startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

const path = '/v1/charm/hello/releases';
const declared =
  'resources:\n  config: {type: file, filename: a}\n  extra: {type: file, filename: b, optional: true}\n';

async function withCharm(
  t: Parameters<typeof startStore>[0],
): Promise<{ store: TestAppliance; ada: Client; id: string }> {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/charm', { name: 'hello' })).body;
  await ada.push('charm', 'hello', charm('hello', {}, declared));
  await ada.push('charm', 'hello', charm('hello', { dispatch: 'second' }, declared));
  for (const content of ['one', 'two']) {
    const upload = await ada.upload(content);
    await ada.post('/v1/charm/hello/resources/config/revisions', { 'upload-id': upload });
    await store.appliance.reviewed();
  }
  return { store, ada, id };
}

const refused = (message: string) => ({ status: 400, body: { 'error-list': [{ code: 'api-error', message }] } });

t.test('a charm is released with its resources, and keeps those of the channel when none are named', async (t) => {
  const { ada, id } = await withCharm(t);
  t.match(
    await ada.post(path, [{ channel: 'edge', revision: 1 }]),
    refused(`Resource 'config' doesn't have a released revision for charm with id '${id}' and revision 1`),
  );
  t.match(
    await ada.post(path, [{ channel: 'edge', revision: 1, resources: [{ name: 'other', revision: 1 }] }]),
    refused(`Resource 'other' is not valid for charm with id ${id}.`),
  );
  t.match(
    await ada.post(path, [{ channel: 'edge', revision: 1, resources: [{ name: 'config', revision: 3 }] }]),
    refused(`Resource 'config' with revision 3 does not exist for charm with id ${id}.`),
  );
  t.same((await ada.get(path)).body['channel-map'], [], 'nothing was released by any of these');
  t.same(
    (await ada.post(path, [{ channel: 'edge', revision: 1, resources: [{ name: 'config', revision: 1 }] }])).body,
    {
      released: [
        {
          channel: 'latest/edge',
          revision: 1,
          resources: [
            { name: 'config', revision: 1 },
            { name: 'extra', revision: null },
          ],
        },
      ],
    },
  );
  t.match((await ada.get(path)).body, {
    'channel-map': ['amd64', 'arm64'].map((architecture) => ({
      base: { architecture, channel: '22.04', name: 'ubuntu' },
      channel: 'latest/edge',
      'expiration-date': null,
      progressive: { paused: null, percentage: null },
      resources: [
        { name: 'config', revision: 1, type: 'file' },
        { name: 'extra', revision: null, type: 'file' },
      ],
      revision: 1,
    })),
    revisions: [{ revision: 1, bases: [{ name: 'ubuntu' }, { name: 'ubuntu' }], status: 'released' }],
  });
  t.match((await ada.post(path, [{ channel: 'edge', revision: 2, resources: null }])).body.released, [
    { revision: 2, resources: [{ name: 'config', revision: 1 }, { name: 'extra' }] },
  ]);
  t.match(
    (await ada.post(path, [{ channel: 'stable', revision: 1, resources: [{ name: 'config', revision: 0 }] }])).body
      .released,
    [{ channel: 'latest/stable', resources: [{ name: 'config', revision: null }, {}] }],
  );
  t.match(
    (await ada.post(path, [{ channel: 'beta', revision: 2 }])).body.released,
    [{ resources: [{ name: 'config', revision: 1 }, {}] }],
    'another channel has it with the same revision',
  );
});

t.test('a progressive release is on top of the ordinary one, and ends with the next', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  await ada.push('snap', 'tiny-app', await snapFixture('app-gzip'));
  const at = '/v1/snap/tiny-app/releases';
  const map = async () => {
    const entries = (await ada.get(at)).body['channel-map'] as { architecture: string; progressive: object }[];
    return entries
      .filter(({ architecture }) => architecture === entries[0]?.architecture)
      .map(({ progressive }) => progressive);
  };
  if ((await ada.post(at, [{ channel: 'stable', revision: 1 }])).status !== 200) {
    t.fail('the snap is released');
    return;
  }
  const ordinary = { paused: null, percentage: null };
  await ada.post(at, [{ channel: 'stable', revision: 1, progressive: { percentage: 20 } }]);
  t.same(await map(), [ordinary, { paused: false, percentage: 20 }]);
  await ada.post(at, [{ channel: 'stable', revision: 1, progressive: { percentage: 40, paused: true } }]);
  t.same(await map(), [ordinary, { paused: true, percentage: 40 }]);
  await ada.post(at, [{ channel: 'stable', revision: 1, progressive: { percentage: 100 } }]);
  t.same(await map(), [ordinary]);
  await ada.post(at, [{ channel: 'stable', revision: 1, progressive: { percentage: 20 } }]);
  await ada.post(at, [{ channel: 'stable', revision: null }]);
  t.same(await map(), [], 'closing a channel empties it of both');
});

t.test('a bin or a rock is released to all devices at once, and a share of them is refused', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  for (const namespace of ['bin', 'rock']) {
    const { id } = (await ada.post(`/v1/${namespace}`, { name: 'hello' })).body as { id: string };
    await addRevision(store, id, 1);
    const at = `/v1/${namespace}/hello/releases`;
    const release = (progressive: object) => ada.post(at, [{ channel: 'edge', revision: 1, progressive }]);
    t.match(
      await release({ percentage: 20 }),
      refused(`A ${namespace} is released to all devices at once. Leave out 'progressive' for 'latest/edge'.`),
    );
    t.same((await ada.get(at)).body['channel-map'], []);
    for (const settings of [{ percentage: 100 }, { percentage: null, paused: null }, {}]) {
      t.match(await release(settings), { status: 200 });
    }
    t.equal((await ada.get(at)).body['channel-map'].length, 1);
  }
});

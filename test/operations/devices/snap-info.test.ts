// The description of a snap, for people at a device.
import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { deviceHeaders, servingSnaps } from '#test/fixtures/devices.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

t.test('the default comes first, each track with its risks, and no branch', async (t) => {
  const store = await startStore(t, servingSnaps);
  const [ada, root] = [await store.as('ada'), await store.as('root')];
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  t.equal((await store.anyone.get('/v2/snaps/info/hello')).status, 404, 'nothing is released');
  for (const revision of [1, 2, 3, 4]) await addRevision(store, id, revision);
  await addRevision(store, id, 5, { details: { architectures: ['arm64'] } });
  await root.post('/internal/v1/packages/snap/hello/guardrails', { pattern: '^[0-9]+$' });
  await ada.post('/v1/snap/hello/tracks', [{ name: '2' }, { name: '1' }]);
  const released = [
    ['latest/edge', 1],
    ['latest/stable', 1],
    ['1/stable', 2],
    ['2/candidate', 3],
    ['2/edge', 4],
    ['edge/fix', 4],
    ['beta', 5],
  ] as const;
  for (const [channel, revision] of released) await ada.post('/v1/snap/hello/releases', [{ channel, revision }]);
  await ada.patch('/v1/snap/hello', { 'default-track': '2', summary: 'Says hello' });

  const info = async (query: string, headers = deviceHeaders()) =>
    (await store.anyone.get(`/v2/snaps/info/hello?${query}`, headers)).body;
  const { 'channel-map': map, ...about } = await info(
    'fields=revision,version,summary,publisher,download&architecture=amd64',
  );
  t.match(about, {
    name: 'hello',
    'snap-id': id,
    'default-track': '2',
    snap: { summary: 'Says hello', publisher: { username: 'ada' } },
  });
  t.same(
    map.map((entry: { channel: { name: string; track: string; risk: string }; revision: number }) => [
      entry.channel.name,
      entry.channel.track,
      entry.channel.risk,
      entry.revision,
    ]),
    [
      ['2/candidate', '2', 'candidate', 3],
      ['2/edge', '2', 'edge', 4],
      ['stable', 'latest', 'stable', 1],
      ['edge', 'latest', 'edge', 1],
      ['1/stable', '1', 'stable', 2],
    ],
  );
  t.match(map[0], {
    channel: { architecture: 'all', 'released-at': /^\d{4}-/ },
    download: { size: 1003 },
    version: 'v3',
  });
  t.equal((await info('fields=revision&architecture=arm64'))['channel-map'].length, 6);
  t.equal((await info('fields=revision', deviceHeaders('arm64')))['channel-map'].length, 6);
  await ada.patch('/v1/snap/hello', { private: true });
  t.match(await store.anyone.get('/v2/snaps/info/hello'), {
    status: 404,
    body: { 'error-list': [{ code: 'resource-not-found' }] },
  });
});

// The components that come beside a snap, as devices are told of them.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import t from 'tap';

import type { SnapResource } from '#api/wire.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { deviceHeaders, servingSnaps } from '#test/fixtures/devices.ts';
import { pack } from '#test/review/packed.ts';

const install = { action: 'install', 'instance-key': 'install-1', name: 'tiny-app', channel: 'edge' };

t.test('a device is told of the components that were released with a snap, and fetches them', async (t) => {
  const store = await startStore(t, servingSnaps);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body;
  const yaml = `name: tiny-app
version: '2'
components:
  words: {type: standard, description: All words}
  more: {type: standard}
`;
  await ada.push('snap', 'tiny-app', await readFile(pack(t, { 'meta/snap.yaml': yaml })));
  const push = async (name: string, content: string): Promise<void> => {
    const upload = await ada.upload(content);
    await ada.post(`/v1/snap/tiny-app/resources/${name}/revisions`, {
      'upload-id': upload,
      type: 'component/standard',
    });
    await store.appliance.reviewed();
  };
  const ask = async (...fields: string[]): Promise<SnapResource[] | undefined> => {
    const body = { context: [], actions: [install], fields };
    const reply = await store.anyone.post('/v2/snaps/refresh', body, deviceHeaders());
    return reply.body.results[0].snap?.resources;
  };
  const get = (path: string) => store.anyone.get(new URL(path, store.url).pathname, deviceHeaders());
  await push('words', 'all words');
  const guessed = `/api/v1/snaps/download/${id}_words_1.comp`;
  t.equal((await get(guessed)).status, 404, 'nothing is released');
  await ada.post('/v1/snap/tiny-app/releases', [
    { channel: 'edge', revision: 1, resources: [{ name: 'words', revision: 1 }] },
  ]);
  t.equal(await ask('revision'), undefined, 'who does not ask is told nothing');
  t.same(await ask('revision', 'resources'), [
    {
      name: 'words',
      type: 'component/standard',
      revision: 1,
      'created-at': store.clock.now.toISOString(),
      description: 'All words',
      download: {
        url: `http://127.0.0.1:8080${guessed}`,
        size: 9,
        'sha3-384': createHash('sha3-384').update('all words').digest('hex'),
        deltas: [],
      },
    },
  ]);
  const bytes = await fetch(`${store.url}${guessed}`, { headers: { range: 'bytes=4-' } });
  t.same([bytes.status, await bytes.text()], [206, 'words']);

  await push('words', 'other words');
  t.match(await ask('resources'), [{ name: 'words', revision: 1 }], 'what was released with it');
  await push('more', 'more');
  t.match(await ask('resources'), [
    { name: 'words', revision: 1 },
    { name: 'more', revision: 1 },
  ]);
  const { body: info } = await store.anyone.get('/v2/snaps/info/tiny-app?fields=resources', deviceHeaders());
  t.match(info['channel-map'], [{ channel: { name: 'edge' }, resources: [{ name: 'words' }, { name: 'more' }] }]);

  for (const path of [
    `${id}_words_9.comp`,
    `${id}_none_1.comp`,
    `${id}_words_1.snap`,
    `${id}_1.comp`,
    `${id}_-_1.comp`,
  ])
    t.equal((await get(`/api/v1/snaps/download/${path}`)).status, 404, path);
  await ada.patch('/v1/snap/tiny-app', { private: true });
  t.equal((await get(guessed)).status, 404, 'private ones are not there');
  t.equal(await ask('resources'), undefined);
});

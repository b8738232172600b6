// larder release history
import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages.ts';
import { commandsOn } from './process.ts';

t.test('the history tells who put what into which channel, and what was there before', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  for (const number of [1, 2]) await addRevision(store, id, number);
  const release = (...wanted: object[]) => ada.post('/v1/snap/hello/releases', wanted);
  await release({ channel: 'stable', revision: 1 });
  store.clock.advance(60_000);
  await release({ channel: 'stable', revision: 2, progressive: { percentage: 30, paused: true } });
  await release({ channel: 'stable', revision: 2 }, { channel: 'edge', revision: 2 });
  await release({ channel: 'stable', revision: null });

  const { larder, json } = commandsOn(store.directory);
  const { releases } = (await json('release history snap/hello')) as { releases: Record<string, unknown>[] };
  t.same(
    releases.map(({ channel, revision, before }) => [channel, revision, before]),
    [
      ['latest/stable', null, 2],
      ['latest/edge', 2, null],
      ['latest/stable', 2, 1],
      ['latest/stable', 2, 1],
      ['latest/stable', 1, null],
    ],
  );
  t.match(releases[3], { who: store.ids.ada, slot: 'all', progressive: { percentage: 30, paused: true } });
  t.equal(((await json('release history snap/hello --channel edge')) as { releases: [] }).releases.length, 1);
  t.equal(((await json('release history snap/hello --limit 2')) as { releases: [] }).releases.length, 2);
  t.match(await larder('release history snap/hello'), { code: 0, out: /latest\/stable +all +2 to 30 %, paused +1/ });
  t.match(await larder('release history snap/hello --channel latest/sharp'), {
    code: 2,
    err: /'latest\/sharp' is not a channel/,
  });
});

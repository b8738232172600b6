// Downloads of images are counted when they are served, and shown to store administrators.
import t from 'tap';

import { after, days } from '#domain/clock.ts';
import { sweepEphemeralRows } from '#jobs/store/sweep-ephemeral-rows.ts';
import { larder } from '#test/cli/world.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import {
  declare,
  descriptor,
  digestOf,
  imageOf,
  logIn,
  mediaTypes,
  pushImage,
  uploadLogin,
} from '#test/fixtures/packages/images.ts';
import { until } from '#test/fixtures/until.ts';

t.test('pulls are counted by package, in all and for the last thirty days', async (t) => {
  const store = await startStore(t);
  const [root, ada] = [await store.as('root'), await store.as('ada')];
  const { records } = store.beside;
  const id = await declare(store, 'ada', 'hello');
  await declare(store, 'ada', 'quiet');
  const client = await logIn(store, await uploadLogin(ada, 'hello'));
  const shown = async (name = 'hello'): Promise<unknown> =>
    (await root.get(`/internal/v1/packages/charm/${name}`)).body.downloads;
  const pull = async (reference: string, method = 'GET'): Promise<void> => {
    t.equal((await client.call(method, `manifests/${reference}`)).status, 200);
  };
  const counted = (total: number): Promise<unknown> =>
    until(async () => (await records.downloads.of(id, store.clock.now)).inAll === total);

  await pushImage(client, 'v1', 'one');
  const { manifest } = imageOf('one');
  const index = {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: [descriptor(manifest, mediaTypes.manifest)],
  };
  t.equal((await client.manifest('all', index, mediaTypes.index)).status, 201);
  t.same(await shown(), { total: 0, 'last-30-days': 0 }, 'what is pushed is no download');

  const { seq } = (await records.audit.head())!;
  for (const reference of ['v1', digestOf(manifest), 'all']) await pull(reference);
  await pull('v1', 'HEAD');
  t.equal((await client.call('GET', 'manifests/none')).status, 404);
  await counted(2);
  t.same(await shown(), { total: 2, 'last-30-days': 2 }, 'an index leads to an image, and a question is no answer');
  t.same(await shown('quiet'), { total: 0, 'last-30-days': 0 });
  t.equal((await records.audit.head())!.seq, seq, 'the audit log knows nothing of it');

  store.clock.advance(days(29));
  const later = await logIn(store, await uploadLogin(ada, 'hello'));
  t.equal((await later.call('GET', 'manifests/v1')).status, 200);
  await counted(3);
  await sweepEphemeralRows(records, () => store.clock.now).run();
  t.same(await shown(), { total: 3, 'last-30-days': 3 }, 'a sweep takes no day that is shown');
  store.clock.advance(days(1));
  t.same(await shown(), { total: 3, 'last-30-days': 1 }, 'a day leaves when thirty others have come');
  const readCounts = async (): Promise<number[]> =>
    (await records.packageDays.of(id, store.clock.now, 90)).map(({ downloads }) => downloads).filter(Boolean);
  const job = sweepEphemeralRows(records, () => store.clock.now);
  await job.run();
  t.same(await readCounts(), [2, 1], 'and is kept for ninety');
  await sweepEphemeralRows(records, () => after(store.clock.now, days(60))).run();
  t.same(await readCounts(), [1]);
  t.same(await job.run(), { forgotten: 0 });

  const outcome = await larder(`package show charm/hello --data ${store.directory}`);
  t.match(outcome.out, /Downloads +3 of images, /);
});

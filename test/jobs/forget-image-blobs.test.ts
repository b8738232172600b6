import { utimesSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { digestPool } from '#blobs/digests.ts';
import { diskBlobs } from '#blobs/disk.ts';
import { hours, minutes } from '#domain/clock.ts';
import { forgetImageBlobs } from '#jobs/forget-image-blobs.ts';
import { sweepBlobs } from '#jobs/sweep-blobs.ts';
import { startWorker } from '#src/embedded.ts';
import { contentFiles } from '#test/fixtures/footprint.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { declare, digestOf, logIn, pushImage, remove, uploadLogin } from '#test/fixtures/images.ts';

t.test(
  'a blob that became part of no image in a day is forgotten and swept, and what images are made of stays',
  async (t) => {
    const store = await startStore(t);
    await declare(store, 'ada', 'hello');
    const login = await uploadLogin(await store.as('ada'), 'hello');
    const client = await logIn(store, login);
    const digest = await pushImage(client, 'latest', 'layer');
    t.match(await client.blob('loose'), { status: 201 });
    const { records } = store.beside;
    const job = forgetImageBlobs(records, () => store.clock.now);

    store.clock.advance(minutes(4));
    t.same(await job.run(), { forgotten: 0 });
    t.match(await client.call('HEAD', `blobs/${digestOf('loose')}`), { status: 200 }, 'a day has not gone by');
    store.clock.advance(hours(24));
    t.same(await job.run(), { forgotten: 1 });

    const digests = digestPool((options) => startWorker('src/blobs/digest-worker.ts', options));
    t.teardown(() => digests.close());
    const blobs = await diskBlobs({
      directory: store.directory,
      reserve: 0,
      digests,
      fatal: (error) => t.fail(error.message),
    });
    for (const file of contentFiles(store.directory)) {
      utimesSync(join(store.directory, 'blobs/sha3', file.slice(0, 2), file), new Date(0), new Date(0));
    }
    t.same(await sweepBlobs(records, blobs, () => store.clock.now).run(), { swept: 1 });
    const again = await logIn(store, await uploadLogin(await store.as('ada'), 'hello'));
    t.match(await again.call('GET', `manifests/${digest}`), { status: 200 });
    t.match(await again.call('GET', `blobs/${digestOf('layer')}`), { status: 200, text: 'layer' });
    t.match(await again.call('GET', `blobs/${digestOf('loose')}`), { status: 404, code: 'BLOB_UNKNOWN' });
    t.match(await again.manifest('v2', { schemaVersion: 2 }), { status: 400 });
  },
);

t.test('blobs of a package that is gone are swept', async (t) => {
  const store = await startStore(t);
  const id = await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  await pushImage(await logIn(store, await uploadLogin(ada, 'hello')), 'latest', 'layer');
  await remove(store, id);
  for (const file of contentFiles(store.directory)) t.notOk(await store.beside.records.uploads.needsContent(file));
});

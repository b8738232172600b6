import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { createDigestPool } from '#blobs/digests.ts';
import { diskBlobs } from '#blobs/disk.ts';
import { sweepTemporary } from '#jobs/store/sweep-temporary.ts';
import { startWorker } from '#platform/embedded.ts';
import { startStore } from '#test/fixtures/appliance.ts';

t.test('unclaimed files are removed after a day, except those of a continued push of an image', async (t) => {
  const store = await startStore(t);
  const digests = createDigestPool((options) => startWorker('src/blobs/digest-worker.ts', options));
  t.teardown(() => digests.close());
  const { directory } = store;
  const blobs = await diskBlobs({ directory, reserve: 0, digests, fatal: (error) => t.fail(error.message) });
  const folder = join(directory, 'blobs/tmp');
  const left = (id: string, changed: string): void => {
    writeFileSync(join(folder, id), 'half');
    utimesSync(join(folder, id), new Date(changed), new Date(changed));
  };
  left('of-a-worker-that-died', '2026-02-28T11:59:59Z');
  left('under-way', '2026-02-28T12:00:00Z');
  left('of-an-image', '2026-02-01T12:00:00Z');
  const upload = { id: 'of-an-image', repository: 'charm/a', accountId: store.ids.ada };
  await store.beside.records.ephemeral((tx) =>
    tx.registryUploads.begin({ ...upload, endsAt: '2026-03-01T12:00:01.000Z' }),
  );
  const names = store.appliance.jobs().map(({ name }) => name);
  t.ok(names.includes('sweep-temporary'), 'a store that started beside a command has removed nothing');
  const job = sweepTemporary(store.beside.records, blobs, () => store.clock.now);
  t.same(await job.run(), { swept: 1 });
  t.same(readdirSync(folder).sort(), ['of-an-image', 'under-way']);
  store.clock.advance(1000);
  t.same(await job.run(), { swept: 2 }, 'the push has ended too, and a day has gone by');
  t.same(readdirSync(folder), []);
  await blobs.close();
});

t.test('a file that is gone before its removal is no failure, and a file that cannot be removed is one', async (t) => {
  const store = await startStore(t);
  const digests = createDigestPool((options) => startWorker('src/blobs/digest-worker.ts', options));
  t.teardown(() => digests.close());
  const { directory } = store;
  const blobs = await diskBlobs({ directory, reserve: 0, digests, fatal: (error) => t.fail(error.message) });
  const folder = join(directory, 'blobs/tmp');
  for (const id of ['first', 'second', 'third']) writeFileSync(join(folder, id), 'half');
  const swept = await blobs.sweepTemporary(async (id, changed) => {
    // Another process of the store sweeps too, and was quicker: before it is looked at, and after.
    if (id === 'first') rmSync(join(folder, id));
    t.equal((await changed()) === undefined, id === 'first');
    if (id === 'second') rmSync(join(folder, id));
    return false;
  });
  t.equal(swept, 1);
  t.same(readdirSync(folder), []);
  mkdirSync(join(folder, 'a-folder'));
  await t.rejects(
    blobs.sweepTemporary(() => false),
    { code: /^(?:EISDIR|EPERM)$/ },
  );
  await blobs.close();
});

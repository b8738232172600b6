import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';

import { createDigestPool } from '#blobs/digests.ts';
import { diskBlobs } from '#blobs/disk.ts';
import { sweepBlobs } from '#jobs/store/sweep-blobs.ts';
import { startWorker } from '#platform/embedded.ts';
import { startStore } from '#test/fixtures/appliance.ts';

t.test('content that no record needs is removed, once it is old enough to be on its way nowhere', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.upload('needed');
  const digests = createDigestPool((options) => startWorker('src/blobs/digest-worker.ts', options));
  t.teardown(() => digests.close());
  const blobs = await diskBlobs({
    directory: store.directory,
    reserve: 0,
    digests,
    fatal: (error) => t.fail(error.message),
  });

  const left = (content: string, storedAt: Date): string => {
    const digest = createHash('sha3-384').update(content).digest('hex');
    const folder = join(store.directory, 'blobs/sha3', digest.slice(0, 2));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, digest), content);
    utimesSync(join(folder, digest), storedAt, storedAt);
    return digest;
  };
  const old = left('left by a sudden stop', new Date('2026-03-01T10:59:00Z'));
  const young = left('on its way into the records', new Date('2026-03-01T11:30:00Z'));
  const needed = createHash('sha3-384').update('needed').digest('hex');
  utimesSync(join(store.directory, 'blobs/sha3', needed.slice(0, 2), needed), new Date(0), new Date(0));

  const again = left('received again while the job looks at it', new Date('2026-03-01T10:59:00Z'));
  const { records } = store.beside;
  const neededContents = {
    ...records.neededContents,
    async has(digest: string) {
      if (digest === again) left('received again while the job looks at it', store.clock.now);
      return records.neededContents.has(digest);
    },
  };
  t.same(await sweepBlobs({ ...records, neededContents }, blobs, () => store.clock.now).run(), { swept: 1 });
  t.ok(await blobs.stat(again));
  t.equal(await blobs.stat(old), undefined);
  t.ok(await blobs.stat(young));
  t.ok(await blobs.stat(needed));
});

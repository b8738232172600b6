// A lost part is made again with the same bytes, also after a sweep of unneeded blobs.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { withBlobs } from '#data/blobs.ts';
import { openStore } from '#data/store.ts';
import { hours } from '#domain/clock.ts';
import { sweepBlobs } from '#jobs/store/sweep-blobs.ts';
import { snapOf } from '#test/fixtures/packages/online-store.ts';
import { offered, twoSites } from '#test/transfers/sites.ts';

t.setTimeout(600_000);

/** Sweeps a store two hours later; how many contents went. */
async function swept(directory: string): Promise<number> {
  const store = await openStore({ directory });
  try {
    const later = () => new Date(Date.now() + hours(2));
    const { swept } = (await withBlobs(store, ({ blobs }) => sweepBlobs(store.records, blobs, later).run())) as {
      swept: number;
    };
    return swept;
  } finally {
    await store.close();
  }
}

t.test('a lost part is made again after a sweep, until its content is deleted', async (t) => {
  const { depot, here: receiver, stick, carry } = await twoSites(t);
  await carry(offered('hello-on', 12));
  const file = join(stick, 'in.tar');
  t.match(await depot.done(`transfer make ${file}`), { sequence: 1 });
  t.equal(await swept(depot.data), 0, 'its assertions are needed as long as it may be made again');
  const again = join(stick, 'again.tar');
  await depot.done(`transfer make ${again} --again 1`);
  t.ok(readFileSync(again).equals(readFileSync(file)), 'the same bytes');
  t.match(await receiver.done(`transfer receive ${again}`), { lacking: [] });
  t.match((await depot.larder('verify')).out, /^Everything is as it was written/);

  const digest = createHash('sha3-384')
    .update(snapOf(offered('hello-on', 12)))
    .digest('hex');
  rmSync(join(depot.data, 'blobs/sha3', digest.slice(0, 2), digest));
  const { code, err } = await depot.larder(`transfer make ${join(stick, 'third.tar')} --again 1`);
  t.equal(code, 1);
  t.match(
    err,
    /The content \w{96} that part 1 of transfer number 1 contains is not here any more, .* make another transfer\./,
  );
});

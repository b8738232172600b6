import t from 'tap';

import { expireBranches } from '#jobs/releases/expire-branches.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

t.test('expired branches leave the records when they are no longer shown', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/bin', { name: 'hello' })).body;
  await addRevision(store, id, 1);
  await ada.post('/v1/bin/hello/releases', [
    { channel: 'edge', revision: 1 },
    { channel: 'edge/one', revision: 1 },
  ]);
  store.clock.advance(24 * 3_600_000);
  await ada.post('/v1/bin/hello/releases', [{ channel: 'edge/two', revision: 1 }]);
  const job = expireBranches(store.beside.records, store.beside.acts, () => store.clock.now);
  const rows = () => footprint(store.directory)['releases'];

  t.same(await job.run(), { expired: 0 });
  t.equal(rows(), 3);
  store.clock.advance(29 * 24 * 3_600_000);
  const audited = footprint(store.directory)['audit'] as number;
  t.same(await job.run(), { expired: 1 });
  t.equal(rows(), 2);
  t.equal(footprint(store.directory)['audit'], audited + 1, 'with an entry in the audit log');
  t.same(await job.run(), { expired: 0 });
  t.equal(footprint(store.directory)['audit'], audited + 1, 'and without one when nothing was due');
  store.clock.advance(24 * 3_600_000);
  t.same(await job.run(), { expired: 1 });
  t.same((await ada.get('/v1/bin/hello/releases')).body['channel-map'].length, 1, 'what is no branch stays');
});

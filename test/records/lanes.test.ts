// The two lanes beside acts: ephemeral rows, and batched counters.
import t from 'tap';

import { until } from '#test/fixtures/until.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { databaseOf, statement } from '#test/fixtures/records/engines.ts';
import { openStore } from '#test/fixtures/records/writable.ts';

t.test('notes are gathered, written a moment later, and the last of them when the store closes', async (t) => {
  const { directory, clock, beside: hostStore } = await startStore(t);
  const [first, last] = [clock.now.toISOString(), new Date(clock.now.getTime() + 5).toISOString()];
  const { records, close } = await openStore({ directory, now: () => clock.now });
  const entries = (await hostStore.records.audit.head())?.seq;

  for (let times = 0; times < 100; times++) records.countEvent('download', 'hello', times === 50 ? last : first);
  records.countEvent('token', 'hello', first);
  t.equal(await records.counters.find('download', 'hello'), undefined, 'nothing is written at once');
  await until(async () => (await hostStore.records.counters.find('download', 'hello')) !== undefined);
  t.same(await hostStore.records.counters.find('download', 'hello'), { count: 100, lastAt: last });
  t.same(await hostStore.records.counters.find('token', 'hello'), { count: 1, lastAt: first }, 'kinds are apart');

  records.countEvent('download', 'hello', first);
  await close();
  t.same(
    await hostStore.records.counters.find('download', 'hello'),
    { count: 101, lastAt: last },
    'the latest time stays',
  );
  t.equal((await hostStore.records.audit.head())?.seq, entries, 'no audit log tells of it');
});

t.test('the number of waiting counters is bounded', async (t) => {
  const { beside: hostStore, clock } = await startStore(t);
  const { records } = hostStore;
  const at = clock.now.toISOString();
  for (let nth = 0; nth < 10_001; nth++) records.countEvent('download', String(nth), at);
  await records.writeCounters();
  t.same(await records.counters.find('download', '9999'), { count: 1, lastAt: at });
  t.equal(await records.counters.find('download', '10000'), undefined);
});

t.test('ephemeral rows are visible to another process at once, all or nothing, and in no audit log', async (t) => {
  const store = await startStore(t);
  const { records } = store.beside;
  const db = await databaseOf(t, store.directory);
  const entries = (await records.audit.head())?.seq;
  const [now, endsAt] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
  await t.rejects(
    records.ephemeral(async ({ failures }) => {
      await failures.set('login', 'half', { count: 1, endsAt });
      throw new Error('no');
    }),
    { message: 'no' },
  );
  t.equal(await records.failures.find('login', 'half', now), undefined);
  await records.ephemeral(({ failures }) => failures.set('login', 'whole', { count: 2, endsAt }));
  t.same(await db.get(statement("SELECT count FROM passing_failures WHERE key = 'whole'")), { count: 2 });
  t.equal((await records.audit.head())?.seq, entries);
});

t.test('nothing else can be reached in the lane of what passes', async (t) => {
  const { records } = (await startStore(t)).beside;
  await records.ephemeral((tx) => {
    // @ts-expect-error Accounts are changed by acts.
    t.equal(tx.accounts, undefined);
    // @ts-expect-error And so are claimed uploads.
    t.equal(tx.uploads, undefined);
    return Promise.resolve();
  });
});

// Leases over two processes of one store.
import { setTimeout as sleep } from 'node:timers/promises';

import t from 'tap';

import { minutes } from '#domain/clock.ts';
import { createLeases, leaseLifeMs } from '#shared/leases.ts';
import { openRecords } from '#test/fixtures/records/records.ts';
import { until } from '#test/fixtures/until.ts';

type Test = Parameters<typeof openRecords>[0];

async function world(t: Test, life?: number) {
  const clock = { now: new Date('2026-03-01T12:00:00Z') };
  const now = () => clock.now;
  const advance = (milliseconds: number): void => {
    clock.now = new Date(clock.now.getTime() + milliseconds);
  };
  const both = await openRecords(t, 2);
  const [first, second] = both.map((records, at) =>
    createLeases({ records, holder: `process ${at}`, now, ...(life && { life }) }),
  );
  return { here: first!, there: second!, advance, clock, records: both[0] };
}

t.test('one process at a time holds a lease, and releases it after the work, even if it fails', async (t) => {
  const { here: first, there: second } = await world(t);
  const done = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const working = first.withLease('x', () => {
    begun.resolve();
    return done.promise;
  });
  await begun.promise;
  t.equal(await second.withLease('x', async () => 'free'), undefined);
  t.same(await second.withLease('y', async () => 'another'), { result: 'another' });
  done.resolve('done');
  t.same(await working, { result: 'done' });
  t.same(await second.withLease('x', async () => 'free'), { result: 'free' });
  await t.rejects(
    first.withLease('x', () => Promise.reject(new Error('broken'))),
    { message: 'broken' },
  );
  t.same(await second.withLease('x', async () => 'free'), { result: 'free' });
});

t.test('of many who want it at once one gets it, also within a process', async (t) => {
  const { here: first, there: second } = await world(t);
  let [under, maximum] = [0, 0];
  const work = async (): Promise<void> => {
    maximum = Math.max(maximum, ++under);
    await new Promise(setImmediate);
    under--;
  };
  await Promise.all([first, second].flatMap((leases) => Array.from({ length: 5 }, () => leases.withLease('x', work))));
  t.equal(maximum, 1);
});

t.test('leases that are requested at once are taken, renewed and released together', async (t) => {
  const { there: second, records, clock } = await world(t);
  let changes = 0;
  const ephemeral: typeof records.ephemeral = (work) => {
    changes++;
    return records.ephemeral(work);
  };
  const first = createLeases({ records: { ephemeral }, holder: 'process 0', now: () => clock.now });
  const names = Array.from({ length: 20 }, (_, number) => `job ${number}`);
  t.same(await second.withLease('job 7', async () => true, Boolean), { result: true }, 'one of them is not free');
  const allBegun = Promise.withResolvers<undefined>();
  let begun = 0;
  const done = await Promise.all(
    names.map((name) =>
      first.withLease(name, () => {
        if (++begun === 19) allBegun.resolve(undefined);
        return allBegun.promise;
      }),
    ),
  );
  t.same(
    names.filter((_, at) => done[at] === undefined),
    ['job 7'],
  );
  t.equal(changes, 2);
  for (const name of ['job 0', 'job 19']) t.ok(await second.withLease(name, async () => true), `${name} is free again`);
});

t.test('a process that stops starts nothing, and releases its leases together', async (t) => {
  const { there: second, records, clock } = await world(t);
  let changes = 0;
  let isAway = false;
  const ephemeral: typeof records.ephemeral = (work) => {
    changes++;
    return isAway ? Promise.reject(new Error('the records are away')) : records.ephemeral(work);
  };
  const first = createLeases({ records: { ephemeral }, holder: 'process 0', now: () => clock.now });
  const ends = [1, 2, 3].map(() => Promise.withResolvers<undefined>());
  const begun = ends.map(() => Promise.withResolvers<undefined>());
  const working = ends.map((end, at) =>
    first.withLease(`job ${at}`, () => {
      begun[at]!.resolve(undefined);
      return end.promise;
    }),
  );
  await Promise.all(begun.map(({ promise }) => promise));
  const taken = first.withLease('job 3', () => Promise.reject(new Error('begun')));
  first.end();
  t.equal(await taken, undefined, 'what was asked for before is not begun either');
  t.equal(await first.withLease('job 4', () => Promise.reject(new Error('begun'))), undefined);
  for (const end of ends.slice(1)) end.resolve(undefined);
  await Promise.all(working.slice(1));
  changes = 0;
  await first.releaseLeases();
  t.equal(changes, 1);
  for (const name of ['job 1', 'job 2', 'job 3'])
    t.ok(await second.withLease(name, async () => true), `${name} is free`);
  t.equal(await second.withLease('job 0', async () => true), undefined, 'the other work goes on');

  isAway = true;
  ends[0]!.resolve(undefined);
  await working[0];
  await first.releaseLeases();
  t.equal(await second.withLease('job 0', async () => true), undefined, 'which ends by itself');
});

t.test('the lease of a dead process ends, even if the clock was set back since', async (t) => {
  for (const [passes, label] of [
    [leaseLifeMs, 'time'],
    [-minutes(60), 'a clock that is set back'],
  ] as const) {
    const { here: first, there: second, advance } = await world(t);
    await first.withLease(
      'x',
      async () => true,
      (result) => result,
    );
    t.equal(await second.withLease('x', async () => true), undefined);
    advance(passes);
    t.same(await second.withLease('x', async () => true), { result: true }, label);
  }
});

t.test('a process that keeps working keeps the lease, however long it takes', async (t) => {
  const life = 100;
  const { here: first, there: second, advance, records, clock } = await world(t, life);
  const done = Promise.withResolvers<undefined>();
  const working = first.withLease('x', () => done.promise);
  for (let round = 0; round < 3; round++) {
    const expected = new Date(clock.now.getTime() + life).toISOString();
    while ((await records.leases.find('x'))?.endsAt !== expected) await new Promise(setImmediate);
    advance(life - 1);
    t.equal(await second.withLease('x', async () => true), undefined);
  }
  done.resolve(undefined);
  await working;
  t.same(await second.withLease('x', async () => true), { result: true });
});

t.test('a lease that cannot be released while the records are away is released afterwards', async (t) => {
  const { there: second, records, clock } = await world(t);
  let isAway = false;
  const ephemeral: typeof records.ephemeral = (work) =>
    isAway ? Promise.reject(new Error('the records are away')) : records.ephemeral(work);
  const first = createLeases({ records: { ephemeral }, holder: 'process 0', now: () => clock.now });
  const done = await first.withLease('x', async () => {
    isAway = true;
    return 'done';
  });
  t.same(done, { result: 'done' }, 'what was done is done');
  t.equal(await second.withLease('x', async () => 'free'), undefined);
  isAway = false;
  // By the clock of the leases no time goes by.
  await until(async () => (await second.withLease('x', async () => 'free')) !== undefined);
});

t.test('a lease that is held for a multiple of its life by the real clock has no second holder', async (t) => {
  const lifeMs = 2000;
  const both = await openRecords(t, 2);
  const [first, second] = both.map((records, at) =>
    createLeases({ records, holder: `process ${at}`, now: () => new Date(), life: lifeMs }),
  );
  const until3Lives = async (): Promise<'held' | 'taken' | 'stalled'> => {
    const end = Date.now() + 3 * lifeMs;
    for (let before = Date.now(); before < end;) {
      if ((await second!.withLease('x', async () => 'second')) !== undefined) return 'taken';
      await sleep(20);
      const now = Date.now();
      // A machine that stands still for so long renews nothing, which proves nothing.
      if (now - before > lifeMs / 2) return 'stalled';
      before = now;
    }
    return 'held';
  };
  let seen: { result: string } | undefined;
  do seen = await first!.withLease('x', until3Lives);
  while (seen?.result === 'stalled');
  t.same(seen, { result: 'held' });
});

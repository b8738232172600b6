// Removal of content, with two processes of one store.
import { setTimeout as sleep } from 'node:timers/promises';

import t from 'tap';

import { seconds } from '#domain/clock.ts';
import { leaseLifeMs } from '#shared/leases.ts';
import { endDeadProcesses } from '#shared/processes.ts';
import { createExclusiveRemoval } from '#shared/exclusive-removal.ts';
import { openRecords } from '#test/fixtures/records/records.ts';

type Test = Parameters<typeof openRecords>[0];

async function world(t: Test, life = leaseLifeMs) {
  const clock = { now: new Date('2026-03-01T12:00:00Z'), elapsed: 0 };
  const advance = (milliseconds: number): void => {
    clock.now = new Date(clock.now.getTime() + milliseconds);
    clock.elapsed += milliseconds;
  };
  const both = await openRecords(t, 2);
  const [first, second] = both.map((records) =>
    createExclusiveRemoval({ records, now: () => clock.now, elapsed: () => clock.elapsed, life }),
  );
  return { here: first!, there: second!, advance, records: both[0] };
}

t.test('one process at a time removes a content, and a concurrent upload of it waits for the end', async (t) => {
  const { here: first, there: second } = await world(t);
  const done = Promise.withResolvers<string>();
  const began = Promise.withResolvers<void>();
  const removing = first.alone('x', async (certain) => {
    await certain(async () => {
      began.resolve();
    });
    return done.promise;
  });
  await began.promise;
  t.equal(await second.alone('x', async () => 'too'), undefined);
  t.same(await second.alone('y', async () => 'another'), { result: 'another' });
  let isFree = false;
  const waiting = second.none('x').then(() => (isFree = true));
  await second.none('y');
  t.equal(isFree, false);
  done.resolve('done');
  t.same(await removing, { result: 'done' });
  await waiting;
  t.same(await second.alone('x', async () => 'free'), { result: 'free' });
});

t.test('if a removal may still happen, others wait until it cannot', async (t) => {
  const { here: first, there: second, advance, records } = await world(t);
  await t.rejects(
    first.alone('x', () => Promise.reject(new Error('no answer'))),
    { message: 'no answer' },
  );
  advance(leaseLifeMs - 1);
  // The end or restart of the process does not end requests in progress.
  t.same(await endDeadProcesses(records, () => new Date()), { isAlone: true });
  t.equal(await second.alone('x', async () => 'too'), undefined);
  advance(1);
  await second.none('x');
  t.same(await second.alone('x', async () => 'free'), { result: 'free' });
});

t.test('a process that was delayed too long between check and removal does not remove', async (t) => {
  const { here: first, there: second, advance } = await world(t);
  const removed = first.alone('x', (certain) =>
    certain(() => {
      advance(leaseLifeMs - seconds(29));
      return Promise.resolve('old');
    }),
  );
  await t.rejects(removed, { message: /another process may have started/ });

  const afterLong = first.alone('y', async (certain) => {
    advance(leaseLifeMs + seconds(1));
    t.same(await second.alone('y', async () => 'mine'), { result: 'mine' }, 'somebody else has had it meanwhile');
    return certain(() => Promise.resolve('look'));
  });
  t.same(await afterLong, { result: 'look' }, 'it is taken anew before the look');
});

t.test('a removal that takes long renews its lease before it ends', async (t) => {
  // The renewal is a timer of a quarter of the life, so it is due long before a timer of the whole life.
  const life = 8000;
  const { here: first, there: second, advance, records } = await world(t, life);
  const [began, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const removing = first.alone('x', () => {
    began.resolve();
    return done.promise;
  });
  await began.promise;
  const endOf = async () => (await records.leases.find('remove x'))?.endsAt;
  const before = await endOf();
  advance(life - 1);
  const timer = { isOver: false };
  const wholeLife = sleep(life).then(() => (timer.isOver = true));
  while ((await endOf()) === before && !timer.isOver) await sleep(20);
  t.not(await endOf(), before);
  advance(1);
  t.equal(await second.alone('x', async () => 'too'), undefined, 'the first lease would have ended');
  done.resolve();
  await Promise.all([removing, wholeLife]);
});

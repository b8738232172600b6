// Work that one process does for all, until it ends, and then another one.
import { mock } from 'node:test';

import t from 'tap';

import { seconds } from '#domain/clock.ts';
import { createLeases } from '#shared/leases.ts';
import { chooseProcess } from '#shared/chosen-process.ts';
import { openRecords } from '#test/fixtures/records/records.ts';

t.test('of several processes one does it, and when that one ends another one', async (t) => {
  const [records] = await openRecords(t);
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  t.teardown(() => mock.timers.reset());
  const now = () => new Date('2026-03-01T12:00:00Z');
  const turnOf = (holder: string) => chooseProcess(createLeases({ records, holder, now }), 'reading');
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  const first = turnOf('first');
  while (!first.isThis()) await settled();
  const second = turnOf('second');
  for (let turn = 0; turn < 3; turn++) {
    mock.timers.tick(seconds(15));
    for (let at = 0; at < 20; at++) await settled();
    t.same([first.isThis(), second.isThis()], [true, false]);
  }
  await first.end();
  t.notOk(first.isThis());
  while (!second.isThis()) {
    mock.timers.tick(seconds(15));
    await settled();
  }
  await second.end();
  t.same(await records.leases.holders(), []);
});

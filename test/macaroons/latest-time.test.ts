import t from 'tap';

import { days, hours, minutes } from '#domain/clock.ts';
import { acceptClock, timeKeeper } from '#jobs/remember-time.ts';
import { latestTime } from '#macaroons/latest-time.ts';
import { startStore } from '#test/fixtures/appliance.ts';

const whoami = '/v1/tokens/whoami';

t.test('a clock that is set back revives no token', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada', { ttl: 3600 });
  store.clock.advance(hours(2));
  t.match(await ada.get(whoami), { status: 401 });
  store.clock.advance(-hours(2));
  t.match(await ada.get(whoami), { status: 401 });
  const bob = await store.as('bob');
  t.match((await bob.get('/v1/tokens')).body.macaroons[0], { 'valid-since': '2026-03-01T12:00:00.000Z' });
  await store.restart();
  t.match(await ada.get(whoami), { status: 401 }, 'nor does a restart');
});

t.test('a start more than a day away from the last run is reported, until the clock is accepted', async (t) => {
  const store = await startStore(t);
  const start = store.clock.now;
  store.clock.advance(days(400));
  await (await store.as('ada')).get(whoami);
  await store.restart();
  store.clock.now = start;
  await store.restart();
  t.match((await store.anyone.get('/readyz')).body.problems, [/more than a day before .*'larder clock accept'/]);
  const entry = { at: start.toISOString(), actor: 'cli:test', action: 'clock accept', object: 'clock' };
  await store.beside.records.change(entry, (tx) => acceptClock(tx, start.toISOString(), 'first'));
  await store.restart();
  t.match((await store.anyone.get('/readyz')).body.problems, []);
  await store.restart();
  t.match((await store.anyone.get('/readyz')).body.problems, [], 'stopping did not bring the wrong time back');
});

t.test('a serving process follows an acceptance within its minute, and does not undo it', async (t) => {
  const store = await startStore(t);
  const { records } = store.beside;
  const clock = { now: new Date('2030-01-01T00:00:00Z') };
  const latest = latestTime(() => clock.now);
  const keeper = await timeKeeper(records, latest, () => clock.now);
  await keeper.keep();
  clock.now = new Date('2026-03-01T12:00:00Z');
  t.same(latest.now(), new Date('2030-01-01T00:00:00Z'));
  const at = clock.now.toISOString();
  await records.change({ at, actor: 'cli:test', action: 'clock accept', object: 'clock' }, (tx) =>
    acceptClock(tx, at, 'once'),
  );
  await keeper.keep();
  t.equal(await records.appliance.find('latest-time'), at, 'what it had seen is not kept any more');
  t.same(await keeper.job.run(), { accepted: 1 });
  t.same(latest.now(), clock.now);
  clock.now = new Date(clock.now.getTime() + minutes(61));
  await keeper.job.run();
  t.equal(await records.appliance.find('latest-time'), clock.now.toISOString());
});

import { setTimeout as sleep } from 'node:timers/promises';

import t from 'tap';

import { createActs } from '#acts/door.ts';
import { days, hours, minutes } from '#domain/clock.ts';
import { acceptClock } from '#acts/store/clock.ts';
import { createTimeKeeper } from '#jobs/store/remember-time.ts';
import { latestTime } from '#macaroons/latest-time.ts';
import { startAppliance } from '#appliance/appliance.ts';
import { createLog } from '#platform/log.ts';
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
  await store.beside.acts.do(acceptClock, { actor: 'cli:test' }, { acceptanceId: 'first' });
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
  const acts = createActs(records, () => clock.now);
  const keeper = await createTimeKeeper(records, acts, latest, () => clock.now);
  await keeper.keep();
  clock.now = new Date('2026-03-01T12:00:00Z');
  t.same(latest.now(), new Date('2030-01-01T00:00:00Z'));
  t.match(keeper.doubt(), { isBefore: true, expectedBy: 'the time that the clock should show' });
  const at = clock.now.toISOString();
  await acts.do(acceptClock, { actor: 'cli:test' }, { acceptanceId: 'once' });
  await keeper.keep();
  t.equal(await records.appliance.find('latest-time'), at, 'what it had seen is not kept any more');
  t.same(await keeper.job.run(), { accepted: 1 });
  t.equal(keeper.doubt(), undefined);
  t.same(latest.now(), clock.now);
  clock.now = new Date(clock.now.getTime() + minutes(61));
  await keeper.job.run();
  t.equal(await records.appliance.find('latest-time'), clock.now.toISOString());
});

t.test('a clock that is set wrong while serving is reported, and not trusted', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada', { ttl: 3600 });
  const problems = async () => (await store.anyone.get('/readyz')).body.problems as string[];
  store.clock.step(hours(23));
  t.same(await problems(), []);
  store.clock.step(-hours(23));
  for (const [step, word] of [
    [days(3650), 'after'],
    [-days(3650), 'before'],
  ] as const) {
    store.clock.step(step);
    t.match(
      (await problems())[0],
      new RegExp(`^The clock says .*, more than a day ${word} the time that the clock should.*clock accept`),
    );
    await ada.get(whoami);
    store.clock.step(-step);
    t.same(await problems(), [], 'set right again it is well');
  }
  await store.restart();
  t.same(await problems(), [], 'and no wrong time is kept');
  const bob = await store.as('bob');
  t.match(await bob.get(whoami), { status: 200 });
});

t.test('a run with a clock ten years ahead ends, expires and removes nothing', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'tool' });
  await ada.push('bin', 'tool', 'a revision');
  t.match(await ada.post('/v1/bin/tool/releases', [{ channel: 'latest/edge/fix-1', revision: 1 }]), { status: 200 });
  const upload = await ada.upload('not pushed yet');
  await store.appliance.stop();

  const later = await startAppliance({
    directory: store.directory,
    now: () => new Date(store.clock.now.getTime() + days(3650)),
    elapsed: () => 0,
    jobsAfter: 1,
    log: createLog('silent'),
  });
  const ran = (name: string): number => later.jobs().find((job) => job.name === name)!.runs;
  const waiting = ['forget-uploads', 'forget-images', 'sweep-blobs', 'expire-branches', 'retire-keys'];
  waiting.push('forget-invites', 'forget-sessions');
  while (['remember-time', 'seal-audit', 'sign-revisions', 'prove-records'].some((name) => ran(name) === 0))
    await sleep(5);
  for (const name of waiting) t.equal(ran(name), 0, name);
  const { problems } = (await (await fetch(`${later.url}/readyz`)).json()) as { problems: string[] };
  t.match(problems, [
    /more than a day after the time of the last run of larder.*nothing is forgotten, expired or removed/,
  ]);
  store.appliance = later;
  await store.restart();
  t.same((await store.anyone.get('/readyz')).body.problems, []);
  t.match(await ada.get(whoami), { status: 200 }, 'the session goes on');
  const releases = (await ada.get('/v1/bin/tool/releases')).body['channel-map'] as { channel: string }[];
  t.match(releases, [{ channel: 'latest/edge/fix-1' }]);
  t.match(await ada.post('/v1/bin/tool/revisions', { 'upload-id': upload }), { status: 200 });
});

// Devices as the administrator sees them: the last calls, the installed revisions, and the progress of a revision.

import fc from 'fast-check';
import t from 'tap';

import { hours } from '#domain/clock.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { rowsIn } from '#test/fixtures/records/behind.ts';
import { refresh } from '#test/fixtures/devices.ts';
import { examplesIn } from '#test/fixtures/guides.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { larder } from '../../cli/world.ts';
import { until } from '#test/fixtures/until.ts';
import { sessionOf, startForDevices } from './world.ts';

t.setTimeout(600_000);

const remembering = (text: string): string => text.replace(/^# remember = false$/m, 'remember = true');

async function withSnap(t: Parameters<typeof startForDevices>[0], configure?: (text: string) => string) {
  const { store, anyone } = await startForDevices(t, configure);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const revision of [1, 2]) await addRevision(store, id, revision);
  const release = (revision: number) => ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision }]);
  await release(1);
  const run = async (line: string) => larder(`${line} --data ${store.directory}`);
  const json = async (line: string) => JSON.parse((await run(`${line} --json`)).out) as Record<string, unknown>;
  const calls = async (who: Record<string, string>, revision: number, more: object = {}) => {
    const context = [{ 'snap-id': id, 'instance-key': id, revision, 'tracking-channel': 'stable', ...more }];
    await refresh(store, [{ action: 'refresh', 'snap-id': id, 'instance-key': id }], context, who);
  };
  return { store, anyone, id, release, run, json, calls };
}

t.test('the administrator sees the calls of devices, their revisions, and the progress of a revision', async (t) => {
  const { store, anyone, id, release, run, json, calls } = await withSnap(t, remembering);
  const [first, two] = [
    await sessionOf(anyone, { brand: 'acme', model: 'pump', serial: '0001' }),
    await sessionOf(anyone, { brand: 'acme', model: 'pump', serial: '0002' }),
  ];
  const counts = async () => (await json('device refreshes snap/hello'))['refreshes'];
  await calls(first, 1);
  await calls(two, 1);
  await until(async () => ((await json('device list'))['devices'] as unknown[]).length === 2);
  t.same(await counts(), [], 'they have what is there');
  await release(2);
  await calls(first, 1);
  await calls(two, 1);
  const went = (offered: number, took: number, failed: number) => [
    { channel: 'latest/stable', revision: 2, offered, took, held: 0, failed },
  ];
  const comesTo = (expected: unknown) => until(async () => JSON.stringify(await counts()) === JSON.stringify(expected));
  await comesTo(went(2, 0, 0));
  store.clock.advance(hours(2));
  await calls(first, 2);
  await calls(two, 1);
  await comesTo(went(2, 1, 1));
  store.clock.advance(hours(2));
  await calls(first, 2);
  await calls(two, 1);
  await until(async () => (await run('device show acme/pump/0002')).out.includes('T16:00'));
  t.same(await counts(), went(2, 1, 1), 'nothing is counted twice');
  t.match(await run('device refreshes snap/hello'), { out: /2 +latest\/stable +2 +1 +0 +1 +50 %/ });
  t.match(await json('device show acme/pump/0001'), { serial: '0001', holds: [{ id, name: 'hello', revision: 2 }] });
  t.match(await run('device show acme/pump/0001'), { out: /hello +2/ });
  t.match(await run('device show acme/pump/0009'), { code: 1, err: /No device acme\/pump\/0009 has called/ });
  t.match(await run('device list --csv'), { out: /^"brand-id",.*\r\n"acme","pump","0001","2026/ });
  for (const line of examplesIn('administrator', 'See which devices called', 1).flat()) {
    t.match(await run(line.replace('larder ', '')), { code: 0 }, line);
  }
  t.match(await run('device list --limit 1'), { out: /--after acme\/pump\/0001/ });
  t.match(await json('device list --after acme/pump/0001'), { devices: [{ serial: '0002' }], more: false });
});

largeTest('a held refresh has not failed, and its time starts again after the hold', async (t) => {
  const { store, anyone, release, run, json, calls } = await withSnap(t, remembering);
  const device = (serial: string) => sessionOf(anyone, { brand: 'acme', model: 'pump', serial });
  const [holding, other] = [await device('0001'), await device('0002')];
  const held = { held: { by: ['system'] } };
  await release(2);
  /** The reports of both devices, a while after the last time, and the outcome of the refreshes until then. */
  const went = async (first: object, second: object, expected: object) => {
    store.clock.advance(hours(1));
    await calls(holding, 1, first);
    await calls(other, 1, second);
    const at = store.clock.now.toISOString().slice(0, 16);
    await until(async () => (await run('device show acme/pump/0002')).out.includes(at));
    t.same((await json('device refreshes snap/hello'))['refreshes'], [
      { channel: 'latest/stable', revision: 2, offered: 2, took: 0, held: 0, failed: 0, ...expected },
    ]);
  };
  await went(held, held, {});
  await went(held, { held: { by: [] } }, { held: 1, failed: 1 });
  await went(held, held, { held: 1, failed: 1 });
  await went({ held: null }, {}, { held: 1, failed: 1 });
  await went({}, {}, { held: 1, failed: 2 });
  t.match(await run('device refreshes snap/hello'), {
    out: /TOOK +HELD +FAILED.*\n.*2 +latest\/stable +2 +0 +1 +2 +0 %/,
  });
});

t.test('silent devices are told from calling ones by the clock of the host', async (t) => {
  const { store, anyone, run, calls } = await withSnap(t, remembering);
  store.clock.now = new Date(Date.now() - hours(24 * 50));
  const [quiet, busy] = [
    await sessionOf(anyone, { brand: 'acme', model: 'pump', serial: 'quiet' }),
    await sessionOf(anyone, { brand: 'acme', model: 'pump', serial: 'busy' }),
  ];
  await calls(quiet, 1);
  store.clock.advance(hours(24 * 20));
  await calls(busy, 1);
  await until(async () => /quiet/.test((await run('device list')).out) && /busy/.test((await run('device list')).out));
  // A contact is written a moment after its answer.
  await until(async () => !/busy/.test((await run('device list --silent 45d')).out));
  t.match(await run('device list --silent 45d'), { out: /quiet/ });
});

t.test('nothing is recorded unless the configuration enables it', async (t) => {
  const { store, anyone, run, calls } = await withSnap(t);
  await calls(await sessionOf(anyone, { brand: 'acme', model: 'pump', serial: '0001' }), 1);
  await store.appliance.stop();
  t.match(await run('device list'), { out: /There are none/ });
});

const many = process.env['LARDER_LONG'] === '1' ? 20_000 : 500;

t.test(`${many} devices with thirty snaps each take less than a kilobyte each`, async (t) => {
  const { store } = await withSnap(t);
  const ids = Array.from({ length: 60 }, (_, at) => `s${String(at)}`.padEnd(32, 'x'));
  await store.beside.records.change({ at: 'now', actor: 'test', action: 'fill', object: 'snaps' }, async (tx) => {
    for (const id of ids) {
      await tx.packages.claim({
        id,
        namespace: 'snap',
        name: id,
        type: 'snap',
        publisherId: store.ids.ada,
        private: false,
        status: 'registered',
        title: null,
        summary: null,
        description: null,
        license: null,
        defaultTrack: null,
        links: {},
        icon: null,
        edited: [],
        createdAt: store.clock.now.toISOString(),
      });
    }
  });
  const before = (await store.beside.database.size()).bytes;
  for (let at = 0; at < many; at++) {
    const holds = Array.from({ length: 30 }, (_, n) => ({
      packageId: ids[(at + n) % 60]!,
      revision: 1000 + ((at * 7 + n) % 5000),
    }));
    store.beside.records.noteContact({
      brand: 'acme',
      model: 'pump',
      serial: `no-${at}`,
      at: store.clock.now.toISOString(),
      holds,
    });
    if (at % 5000 === 4999) await store.beside.records.writeContacts();
  }
  await store.beside.records.writeContacts();
  const each = ((await store.beside.database.size()).bytes - before) / many;
  t.comment(`${Math.round(each)} bytes a device`);
  t.ok(each < 1000, `${Math.round(each)} bytes`);
  t.same(rowsIn(store.directory, 'SELECT count(*) AS count FROM passing_seen_devices'), [{ count: many }]);
});

t.test('the administrator reads the same over HTTP: calling devices, one device, silent devices', async (t) => {
  const { store, anyone, id, calls } = await withSnap(t, remembering);
  const root = await store.as('root');
  const serials = async (query = '') => {
    const { body } = await root.get(`/internal/v1/devices?${query}`);
    return (body.devices as { serial: string }[]).map(({ serial }) => serial);
  };
  await calls(await sessionOf(anyone, { brand: 'acme', model: 'pump', serial: '0001' }), 1);
  await until(async () => (await serials()).length === 1);
  store.clock.advance(hours(2));
  await calls(await sessionOf(anyone, { brand: 'acme', model: 'pump', serial: '0002' }), 1);
  await until(async () => (await serials()).length === 2);
  const hourAgo = new Date(store.clock.now.getTime() - hours(1)).toISOString();
  t.same(await serials(`silent-since=${hourAgo}`), ['0001']);
  const first = await root.get('/internal/v1/devices?page-size=1');
  t.match(first.body, { devices: [{ 'brand-id': 'acme', model: 'pump', serial: '0001' }], 'next-cursor': String });
  t.same(await serials(`page-size=1&cursor=${String(first.body['next-cursor'])}`), ['0002']);
  const path = '/internal/v1/devices/acme/pump/0002';
  const now = store.clock.now.toISOString();
  t.match(await root.get(path), { status: 200, body: { 'last-contact': now, holds: [{ id, revision: 1 }] } });
  t.match(await root.get('/internal/v1/devices/acme/pump/0003'), { status: 404 });
  t.match(await (await store.as('ada')).get(path), { status: 401 });
});

largeTest('devices are counted once a day, for the store and for each package that they hold', async (t) => {
  const { store, anyone, id, release, json, run, calls } = await withSnap(t, remembering);
  // Commands go by the clock of the host.
  const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);
  store.clock.now = new Date(`${dayOf(new Date(Date.now() - hours(24)))}T12:00:00Z`);
  const [yesterday, today] = [dayOf(store.clock.now), dayOf(new Date())];
  const { records } = store.beside;
  const [root, ada, bob] = [await store.as('root'), await store.as('ada'), await store.as('bob')];
  const first = await sessionOf(anyone, { brand: 'acme', model: 'pump', serial: '0001' });
  const two = await sessionOf(anyone, { brand: 'acme', model: 'pump', serial: '0002' });
  await sessionOf(anyone, { brand: 'acme', model: 'pump', serial: 'holds nothing' });
  const usage = '/internal/v1/packages/snap/hello/usage';
  const days = async (address: string, who = ada): Promise<unknown[]> =>
    (await who.get(address)).body.days as unknown[];
  const shows = (expected: object) =>
    until(async () => {
      const [day] = (await days(`${usage}?days=1`)) as object[];
      return JSON.stringify(day) === JSON.stringify({ ...day, ...expected });
    });
  await calls(first, 1);
  await shows({ devices: 1 });
  await calls(first, 1);
  await calls(two, 1);
  await shows({ devices: 2, refreshes: 0 });
  t.match(await days('/internal/v1/devices/days?days=1', root), [{ day: yesterday, devices: 3, refreshes: 0 }]);
  await release(2);
  await calls(first, 1);
  store.clock.advance(hours(24));
  await calls(first, 2);
  await shows({ day: today, devices: 1, refreshes: 1 });

  t.match(await days(`${usage}?days=2`), [{ day: yesterday, devices: 2 }, { devices: 1 }], 'her publisher sees it');
  t.equal((await ada.get(usage)).body.remembered, true);
  t.equal((await days(usage)).length, 30);
  t.match(await bob.get(usage), { status: 404 }, 'and no stranger');
  t.match(await ada.get('/internal/v1/devices/days'), { status: 401 }, 'all devices are for who administers the store');
  t.match(await ada.get(`${usage}?days=91`), { status: 400 });
  t.match(await json('package usage snap/hello --days 2'), { days: [{ devices: 2 }, { devices: 1, refreshes: 1 }] });
  t.match(await run('package usage snap/hello --days 1'), { out: new RegExp(`${today} +0 +1 +1\n0 downloads in all`) });
  t.match(await run('device days --days 2'), { out: new RegExp(`${yesterday} +3 +0\n${today} +1 +1`) });
  const stored = await records.packageDays.of(id, store.clock.now, 2);
  t.same(Object.keys(stored[0] ?? {}).sort(), ['day', 'devices', 'downloads', 'refreshes'], 'no device is named in it');
});

largeTest('a device counts once a day, for any sequence of calls and writes', async (t) => {
  const { store, id } = await withSnap(t, remembering);
  const { records } = store.beside;
  const call = fc.record({
    serial: fc.constantFrom('a', 'b', 'c'),
    /** Later than the one before by so many hours. */
    later: fc.integer({ min: 0, max: 20 }),
    /** The report of the device, if any: it may have got the snap in between. */
    says: fc.constantFrom(undefined, [], [{ packageId: id, revision: 1 }]),
    /** Which revision of it, which may be another one each time. */
    revision: fc.constantFrom(1, 2),
    isWritten: fc.boolean(),
  });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 12 }), async (sequence) => {
      const model = `round-${String(++round)}`;
      const moment = new Date(Date.UTC(2000, 0, 1 + round * 20));
      const seen = new Map<string, Set<string>>();
      const holders = new Map<string, Set<string>>();
      const has = new Set<string>();
      const add = (to: Map<string, Set<string>>, day: string, serial: string) =>
        to.set(day, (to.get(day) ?? new Set()).add(serial));
      for (const { serial, later, says, revision, isWritten } of sequence) {
        moment.setTime(moment.getTime() + hours(later));
        const at = moment.toISOString();
        // A device with the snap reports it each time; later reports without it are tested elsewhere.
        if ((says?.length ?? 0) > 0) has.add(serial);
        const holds = says === undefined ? undefined : has.has(serial) ? [{ packageId: id, revision }] : [];
        records.noteContact({ brand: 'acme', model, serial, at, ...(holds && { holds }) });
        add(seen, at.slice(0, 10), serial);
        if (has.has(serial)) add(holders, at.slice(0, 10), serial);
        if (isWritten) await records.writeContacts();
      }
      await records.writeContacts();
      for (const [packageId, expected] of [
        ['', seen],
        [id, holders],
      ] as const) {
        const counted = await records.packageDays.of(packageId, moment, 11);
        const counts = counted.filter(({ devices }) => devices > 0).map(({ day, devices }) => [day, devices] as const);
        t.same(
          new Map(counts),
          new Map([...expected].map(([day, serials]) => [day, serials.size])),
          JSON.stringify(sequence),
        );
      }
    }),
    { numRuns: 40 },
  );
});

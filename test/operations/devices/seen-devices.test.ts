// What the administrator sees of devices: who called, what they hold, and how far a revision has come.
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { hours } from '#domain/clock.ts';
import { refresh } from '#test/fixtures/devices.ts';
import { addRevision } from '#test/fixtures/packages.ts';
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
  const calls = async (who: Record<string, string>, revision: number) => {
    const context = [{ 'snap-id': id, 'instance-key': id, revision, 'tracking-channel': 'stable' }];
    await refresh(store, [{ action: 'refresh', 'snap-id': id, 'instance-key': id }], context, who);
  };
  return { store, anyone, id, release, run, json, calls };
}

t.test('the administrator sees which devices called, what they hold, and how far a revision has come', async (t) => {
  const { store, anyone, id, release, run, json, calls } = await withSnap(t, remembering);
  const [one, two] = [
    await sessionOf(anyone, { brand: 'acme', model: 'pump', serial: '0001' }),
    await sessionOf(anyone, { brand: 'acme', model: 'pump', serial: '0002' }),
  ];
  const counts = async () => (await json('device refreshes snap/hello'))['refreshes'];
  await calls(one, 1);
  await calls(two, 1);
  await until(async () => ((await json('device list'))['devices'] as unknown[]).length === 2);
  t.same(await counts(), [], 'they have what is there');
  await release(2);
  await calls(one, 1);
  await calls(two, 1);
  const went = (offered: number, took: number, failed: number) => [
    { channel: 'latest/stable', revision: 2, offered, took, failed },
  ];
  const comesTo = (expected: unknown) => until(async () => JSON.stringify(await counts()) === JSON.stringify(expected));
  await comesTo(went(2, 0, 0));
  store.clock.advance(hours(2));
  await calls(one, 2);
  await calls(two, 1);
  await comesTo(went(2, 1, 1));
  store.clock.advance(hours(2));
  await calls(one, 2);
  await calls(two, 1);
  await until(async () => (await run('device show acme/pump/0002')).out.includes('T16:00'));
  t.same(await counts(), went(2, 1, 1), 'nothing is counted twice');
  t.match(await run('device refreshes snap/hello'), { out: /2 +latest\/stable +2 +1 +1 +50 %/ });
  t.match(await json('device show acme/pump/0001'), { serial: '0001', holds: [{ id, name: 'hello', revision: 2 }] });
  t.match(await run('device show acme/pump/0001'), { out: /hello +2/ });
  t.match(await run('device show acme/pump/0009'), { code: 1, err: /No device acme\/pump\/0009 has called/ });
  t.match(await run('device list --csv'), { out: /^"brand-id",.*\r\n"acme","pump","0001","2026/ });
  t.match(await run('device list --limit 1'), { out: /--after acme\/pump\/0001/ });
  t.match(await json('device list --after acme/pump/0001'), { devices: [{ serial: '0002' }], more: false });
});

t.test('who was silent is told from who was not, by the clock of the host', async (t) => {
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
  const silent = await run('device list --silent 45d');
  t.match(silent, { out: /quiet/ });
  t.notMatch(silent, { out: /busy/ });
});

t.test('nothing is remembered unless the configuration says so', async (t) => {
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
        ...{ id, namespace: 'snap', name: id, type: 'snap', publisherId: store.ids.ada, private: false },
        ...{ status: 'registered', title: null, summary: null, description: null, defaultTrack: null, links: {} },
        ...{ icon: null, edited: [], createdAt: store.clock.now.toISOString() },
      });
    }
  });
  const db = new SQLite(join(store.directory, 'larder.db'));
  t.teardown(() => db.close());
  const pages = (): number => (db.pragma('page_count', { simple: true }) as number) * 4096;
  const before = pages();
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
  const each = (pages() - before) / many;
  t.comment(`${Math.round(each)} bytes a device`);
  t.ok(each < 1000, `${Math.round(each)} bytes`);
  const count = db.prepare('SELECT count(*) FROM passing_seen_devices').pluck().get();
  t.equal(count, many);
});

t.test('the administrator reads the same by HTTP: those that called, one of them, those that are silent', async (t) => {
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
  const one = '/internal/v1/devices/acme/pump/0002';
  const now = store.clock.now.toISOString();
  t.match(await root.get(one), { status: 200, body: { 'last-contact': now, holds: [{ id, revision: 1 }] } });
  t.match(await root.get('/internal/v1/devices/acme/pump/0003'), { status: 404 });
  t.match(await (await store.as('ada')).get(one), { status: 401 });
});

// Devices that show the same cohort key move together.
import t from 'tap';

import type { RefreshAction } from '#contract/wire.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { deviceHeaders, refresh, servingSnaps } from '#test/fixtures/devices.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

type Test = Parameters<typeof startStore>[0];

/** A store with snaps of ada that have five revisions each; the first is in the stable channel. */
async function withSnaps(t: Test, ...names: string[]) {
  const store = await startStore(t, servingSnaps);
  const ada = await store.as('ada');
  const ids: string[] = [];
  for (const name of names) {
    const { id } = (await ada.post('/v1/snap', { name })).body;
    ids.push(id);
    for (const revision of [1, 2, 3, 4, 5]) {
      const packageYaml = `name: ${name}\nversion: '1'\nepoch: ${revision < 3 ? '0' : '1*'}\n`;
      await addRevision(store, id, revision, { packageYaml });
    }
    await ada.post(`/v1/snap/${name}/releases`, [{ channel: 'stable', revision: 1 }]);
  }
  const release = async (channel: string, revision: number | null, more = {}) => {
    // Later changes happen a moment later.
    store.clock.advance(1000);
    const { status } = await ada.post(`/v1/snap/${names[0]}/releases`, [{ channel, revision, ...more }]);
    if (status !== 200) throw new Error(`cannot release revision ${revision} to ${channel}`);
    store.clock.advance(1000);
  };
  return { store, ada, ids, release };
}

const make = async ({ anyone }: TestAppliance, ...snaps: string[]): Promise<Record<string, string>> => {
  const reply = await anyone.post('/v2/cohorts', { snaps }, { ...deviceHeaders(), accept: '' });
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return reply.body['cohort-keys'];
};

const install = (key: string | undefined, more: Partial<RefreshAction> = {}) => ({
  action: 'install' as const,
  name: 'hello',
  channel: 'stable',
  ...(key !== undefined && { 'cohort-key': key }),
  ...more,
});

const numbers = (results: { snap?: { revision?: number } }[]) => results.map(({ snap }) => snap?.revision);

t.test('a cohort gets the channels at the time of its key, and other devices the current ones', async (t) => {
  const { store, ids, release } = await withSnaps(t, 'hello');
  await release('edge', 2);
  await release('beta', 1);
  const { hello: key } = await make(store, 'hello');
  await release('stable', 4);
  await release('edge', 5);
  await release('beta', null);
  const got = async (...channels: string[]) =>
    numbers(
      await refresh(
        store,
        channels.map((channel) => install(key, { channel })),
      ),
    );
  t.same(await got('stable', 'candidate', 'beta', 'edge'), [1, 1, 1, 2]);
  const { hello: later } = await make(store, 'hello');
  const all = await refresh(store, [install(undefined), install(later), install(key), install('')]);
  t.same(numbers(all), [4, 4, 1, 4]);
  t.match(all[2], { 'effective-channel': 'latest/stable' });

  const id = ids[0]!;
  const has = { 'snap-id': id, 'instance-key': id, revision: 1, 'tracking-channel': 'edge' };
  const again = { action: 'refresh' as const, 'snap-id': id, 'instance-key': id };
  t.same(numbers(await refresh(store, [again], [{ ...has, 'cohort-key': key! }])), [2], 'the one that it is in');
  const joined = [{ ...again, 'cohort-key': later! }];
  t.same(numbers(await refresh(store, joined, [{ ...has, 'cohort-key': key! }])), [5], 'the one that it joins');
  t.same(numbers(await refresh(store, [install(key, { revision: 5 })])), [5], 'a number wins');
});

t.test('a progressive release does not reach a cohort, and steps end with it', async (t) => {
  const { store, ids, release } = await withSnaps(t, 'hello');
  await release('stable', 2);
  await release('stable', 3, { progressive: { percentage: 99.999, paused: false } });
  const { hello: key } = await make(store, 'hello');
  t.same(numbers(await refresh(store, [install(key)])), [2]);
  await release('stable', 4);
  const { hello: later } = await make(store, 'hello');
  await release('stable', 5);
  const id = ids[0]!;
  const has = { 'snap-id': id, 'instance-key': id, revision: 1, 'tracking-channel': 'stable' };
  const epoch = { read: [1], write: [1] };
  const step = { action: 'refresh' as const, 'snap-id': id, 'instance-key': id };
  const ask = async (key?: string) =>
    (await refresh(store, [{ ...step, ...(key && { 'cohort-key': key }) }], [{ ...has, epoch }]))[0];
  t.match(await ask(), { snap: { revision: 5 } });
  t.match(await ask(later), { snap: { revision: 4 } });
  t.match(await ask(key), { error: { code: 'revision-not-found' } }, 'nothing newer than its cohort');
});

t.test('a branch ends for a cohort too, and a withdrawn revision is given to no device', async (t) => {
  const { store, ada, release } = await withSnaps(t, 'hello');
  await release('stable/fix', 2);
  const { hello: key } = await make(store, 'hello');
  const ask = async () => (await refresh(store, [install(key, { channel: 'stable/fix' })]))[0];
  t.match(await ask(), { snap: { revision: 2 }, 'effective-channel': 'latest/stable/fix' });
  store.clock.advance(31 * 24 * 3_600_000);
  t.match(await ask(), { snap: { revision: 1 }, 'effective-channel': 'latest/stable' });
  await ada.post('/internal/v1/packages/snap/hello/revisions/1/withdraw', { reason: 'it loses data' });
  t.match(await ask(), { error: { code: 'revision-not-found' } });
});

t.test('a key of another snap, a forged key and an expired key affect only their own item', async (t) => {
  const { store, ids } = await withSnaps(t, 'hello', 'other');
  const { hello = '', other = '' } = await make(store, 'hello', 'other');
  const at = hello.length - 4;
  const forged = `${hello.slice(0, at)}${hello[at] === 'A' ? 'B' : 'A'}${hello.slice(at + 1)}`;
  const keys = [other, forged, `${hello}AAAA`, 'nonsense', 'é', 'x'.repeat(512), hello];
  const results = await refresh(
    store,
    keys.map((key) => install(key)),
  );
  t.same(
    results.map(({ error, snap }) => error?.code ?? snap?.revision),
    [...Array.from({ length: 6 }, () => 'invalid-cohort-key'), 1],
  );
  t.match(results[0], {
    result: 'error',
    name: 'hello',
    'snap-id': ids[0],
    error: { message: /does not belong to 'hello'/ },
  });
  store.clock.advance(90 * 24 * 3_600_000 - 1);
  t.same(numbers(await refresh(store, [install(hello)])), [1]);
  store.clock.advance(1);
  const ended = await refresh(store, [install(hello), install(undefined)]);
  t.match(ended, [{ error: { code: 'invalid-cohort-key' } }, { snap: { revision: 1 } }]);
});

t.test('there are keys for what a device may have alone', async (t) => {
  const { store, ada } = await withSnaps(t, 'hello');
  const ask = (body: unknown) => store.anyone.post('/v2/cohorts', body, deviceHeaders());
  await ada.post('/v1/snap', { name: 'secret', private: true });
  await ada.post('/v1/snap', { name: 'unreleased' });
  for (const name of ['secret', 'unreleased', 'nothing', '']) {
    const code = 'resource-not-found';
    const error = { code, message: `There is no snap named '${name}'.` };
    t.match(await ask({ snaps: ['hello', name] }), { status: 404, body: { 'error-list': [error] } });
  }
  t.match(await ask({ snaps: [] }), { status: 200, body: { 'cohort-keys': {} } });
  t.match(await ask({}), { status: 400, body: { 'error-list': [{ message: /'snaps' is a required property/ }] } });
  t.match(await ask({ snaps: Array.from({ length: 201 }, () => 'hello') }), { status: 400 });
  const reply = await ask({ snaps: ['hello', 'hello'] });
  t.same(Object.keys(reply.body['cohort-keys']), ['hello']);
  t.equal(reply.headers.get('content-type'), 'application/json');
  t.equal(reply.headers.get('snap-store-version'), '60');
  t.equal(reply.headers.get('cache-control'), 'no-store');
});

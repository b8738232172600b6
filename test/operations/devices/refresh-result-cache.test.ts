// Cached responses for devices are the same as computed ones.
// Own process: its revisions share one content, and a process caches by content.
import fc from 'fast-check';
import t from 'tap';

import { days, minutes } from '#domain/clock.ts';
import { deviceHeaders, refresh } from '#test/fixtures/devices.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { pumpDevice, startForDevices } from './world.ts';

t.setTimeout(600_000);

const at = '/v1/snap/hello';

/** A store with a snap of acme with revisions for each epoch, and the actors that change something about it. */
async function withChanges(t: Parameters<typeof startForDevices>[0]) {
  const { store } = await startForDevices(t);
  const [acme, root] = [await store.as('acme'), await store.as('root')];
  const { id } = (await acme.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const [index, epoch] of ['0', '1*', '1'].entries())
    await addRevision(store, id, index + 1, { packageYaml: `name: hello\nversion: '1'\nepoch: ${epoch}\n` });
  await addRevision(store, id, 5);
  await addRevision(store, id, 4, { details: { architectures: ['arm64'] } });
  const release = (channel: string, revision: number | null, percentage?: number) =>
    acme.post(`${at}/releases`, [
      { channel, revision, ...(percentage !== undefined && { progressive: { percentage, paused: false } }) },
    ]);
  const grants = '/internal/v1/packages/snap/hello/device-grants';
  const entry = { at: store.clock.now.toISOString(), actor: 'test', action: 'try', object: 'x' };
  const changes = {
    'release 1': () => release('stable', 1),
    'release 2': () => release('stable', 2),
    'release 3': () => release('stable', 3),
    'release to arm64': () => release('stable', 4),
    'release to some': () => release('stable', 2, 0.001),
    'release to edge': () => release('edge', 2),
    'release 5': () => release('edge', 5),
    'open a branch': () => release('stable/fix', 3),
    close: () => release('stable', null),
    'close beside the server': () => store.beside.records.change(entry, (tx) => tx.releases.close(id, 'latest/edge')),
    describe: () => acme.patch(at, { title: `Hello at ${store.clock.now.toISOString()}` }),
    hide: () => acme.patch(at, { private: true }),
    show: () => acme.patch(at, { private: false }),
    grant: () => root.post(grants, { 'brand-id': 'acme' }),
    withdraw: () => root.post('/internal/v1/packages/snap/hello/revisions/5/withdraw', { reason: 'it loses data' }),
  };
  return { store, id, changes };
}

t.test('a cached response equals a new one, for every device, after every change', async (t) => {
  const { store, id, changes } = await withChanges(t);
  const pump = { 'snap-device-authorization': await (await pumpDevice(store.anyone)).session() };
  const question = fc.record({
    revision: fc.constantFrom(1, 2, 3),
    'tracking-channel': fc.constantFrom('stable', 'latest/stable', 'edge', 'stable/fix', '', 'x/y/z/w'),
    epoch: fc.constantFrom(
      undefined,
      { read: [0], write: [0] },
      { read: [0, 1], write: [1] },
      { read: [9], write: [9] },
    ),
  });
  const who = fc.constantFrom({}, pump, deviceHeaders('arm64'), { 'snap-device-capabilities': '' });
  const names = Object.keys(changes) as (keyof typeof changes)[];
  const ask = async (item: object, headers: Record<string, string>, cohort = {}) => {
    const ids = { 'snap-id': id, 'instance-key': id };
    const context = [{ ...ids, ...item }] as Parameters<typeof refresh>[2];
    return refresh(store, [{ action: 'refresh', ...ids, ...cohort }], context, headers);
  };
  const step = fc.record({
    name: fc.constantFrom(...names),
    questions: fc.array(fc.tuple(question, who), { maxLength: 4 }),
  });
  await changes['release 1']();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
      for (const { name, questions } of steps) {
        await changes[name]();
        for (const [item, headers] of questions) {
          // A request with a cohort key, even an empty one, is never cached.
          const anew = await ask(item, headers, { 'cohort-key': '' });
          for (let time = 0; time < 2; time++) t.same(await ask(item, headers), anew, name);
        }
      }
    }),
    { numRuns: process.env['LARDER_LONG'] === '1' ? 500 : 25 },
  );
  await changes['release 1']();
  await changes.hide();
  const onStable = { revision: 1, 'tracking-channel': 'stable', epoch: { read: [0], write: [0] } };
  for (let time = 0; time < 2; time++) t.match(await ask(onStable, pump), [{ snap: { revision: 1 } }], 'of its brand');
  t.match(await ask(onStable, {}), [{ error: { code: 'id-not-found' } }]);

  await changes.show();
  await changes['release 2']();
  await changes['release 3']();
  const second = { ...onStable, epoch: { read: [1], write: [1] } };
  for (let time = 0; time < 2; time++) t.match(await ask(second, {}), [{ snap: { revision: 3 } }]);
  t.match(await ask(onStable, {}), [{ snap: { revision: 2 } }], 'who cannot read that takes a step before');
  await changes['release to edge']();
  await ask(second, {});
  t.match(await ask(second, {}, { channel: 'edge' }), [{ 'effective-channel': 'latest/edge' }], 'who moves');
  t.match(await ask(second, {}, { revision: 2 }), [{ snap: { revision: 2 } }], 'who wants one by its number');

  await changes['release to some']();
  const has = (revision: number) => ask({ revision, 'tracking-channel': 'stable' }, {});
  for (let time = 0; time < 2; time++) t.match(await has(2), [{ snap: { revision: 2 } }], 'who has it keeps it');
  t.match(await has(1), [{ snap: { revision: 3 } }], 'whom it has not reached');

  await changes['open a branch']();
  await changes['release 1']();
  const onBranch = { revision: 1, 'tracking-channel': 'stable/fix' };
  for (let time = 0; time < 2; time++) t.match(await ask(onBranch, {}), [{ 'effective-channel': 'latest/stable/fix' }]);
  store.clock.advance(days(30) - minutes(1));
  t.match(await ask(onBranch, {}), [{ 'effective-channel': 'latest/stable/fix' }]);
  store.clock.advance(minutes(2));
  t.match(await ask(onBranch, {}), [{ 'effective-channel': /^latest.stable$/ }], 'a branch that has ended meanwhile');
});

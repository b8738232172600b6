// Pages of fleets with more channels and devices than a page can show.
import t from 'tap';

import { filler } from '#test/fixtures/records/filler.ts';
import { startConsole } from '#test/console/world.ts';

const snaps = 120;

t.test('a page of a fleet has at most 100 channels and devices, and says how many there are', async (t) => {
  const store = await startConsole(t);
  const root = await store.as('root');
  const at = store.clock.now.toISOString();
  const names = Array.from({ length: snaps }, (_, number) => `snap-${String(number)}`);
  const devices = names.map((_, number) => `acme/pump/${String(number)}`);
  for (const name of ['pumps', ...Array.from({ length: 119 }, (_, number) => `fleet-${String(number)}`)]) {
    const selected = name === 'pumps' ? devices : [`acme/valve/${name}`];
    t.equal((await root.post('/internal/v1/fleets', { name, kind: 'serial', devices: selected })).status, 201);
  }
  await store.beside.records.change({ at, actor: 'test', action: 'fill', object: 'store' }, async (tx) => {
    for (const name of names) {
      await filler(tx, at).package({ id: name, name, publisherId: store.ids.ada });
      await filler(tx, at).revision({ packageId: name, revision: 1, createdBy: store.ids.ada });
    }
  });
  const ada = await store.as('ada');
  for (const name of names) await ada.post(`/v1/snap/${name}/releases`, [{ channel: 'stable', revision: 1 }]);
  const pin = { channel: 'stable', mode: 'pin', revision: 1 };
  for (const name of names)
    t.equal((await root.post(`/internal/v1/packages/snap/${name}/fleets/pumps/channel`, pin)).status < 300, true);
  for (let number = 0; number < 119; number++)
    await root.post(`/internal/v1/packages/snap/snap-0/fleets/fleet-${String(number)}/channel`, pin);

  const visitor = await store.visit('root');
  const fleet = await visitor.open('/console/fleets/pumps');
  t.equal(fleet.html.match(/<tr>/g)?.length, 1 + 100 + 1 + 100, 'two tables with a heading each');
  t.match(fleet.text, /The list has the first 100 of 120\. larder fleet show pumps shows all\./);
  t.match(fleet.text, /The list has the first 100 of 120\. larder fleet show pumps --limit 10000/);
  const ofSnap = await visitor.open('/console/packages/snap/snap-0/fleets');
  t.equal(ofSnap.html.match(/<tr>/g)?.length, 1 + 100);
  t.match(ofSnap.text, /The list has the first 100 of 120 settings/);
});

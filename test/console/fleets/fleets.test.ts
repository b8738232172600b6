// The pages of fleets: their settings, the explanation for a device, and the forms that change them.
import t from 'tap';

import { addRevision } from '#test/fixtures/packages/packages.ts';
import { startConsole } from '#test/console/world.ts';

t.setTimeout(600_000);

t.test('an administrator pins, hides and explains revisions of a fleet in the console', async (t) => {
  const store = await startConsole(t);
  const [ada, root] = [await store.as('ada'), await store.as('root')];
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  for (const revision of [1, 2]) await addRevision(store, id, revision);
  await ada.post('/v1/snap/hello/releases', [
    { channel: 'stable', revision: 1 },
    { channel: 'candidate', revision: 2 },
  ]);
  const admin = await store.visit('root');
  t.match((await admin.open('/console/fleets')).text, 'There are no fleets.');
  await root.post('/internal/v1/fleets', { name: 'pumps', kind: 'serial', devices: ['acme/pump/0001'] });
  t.match((await admin.open('/console/fleets')).text, 'pumps serial At any time');

  const at = '/console/packages/snap/hello/fleets';
  t.match((await admin.open('/console/packages/snap/hello')).html, `href="${at}"`);
  const empty = { fleet: 'pumps', channel: '', revision: '', follows: '' };
  const change = async (fields: Record<string, string>) =>
    admin.send(await admin.open(at), at, { ...empty, ...fields });
  t.match((await change({ mode: 'pin', channel: 'stable', revision: '2' })).text, 'The fleet is changed.');
  t.match((await admin.open(at)).text, 'pumps latest/stable all pinned to 2');
  const explained = await admin.open(`${at}?device=0001`);
  t.match(explained.text, 'latest/stable 2 pumps pinned to 2');
  t.match(explained.text, 'pumps (by serial)');
  t.match(await admin.open(`${at}?device=0099`), { status: 404, text: /No fleet and no issued serial/ });
  t.match(await change({ mode: 'pin', channel: 'stable', revision: 'two' }), {
    status: 400,
    text: /is not the number/,
  });
  t.match(await change({ mode: 'hide' }), { status: 409, text: /the fleet sets channels of the snap/ });
  t.match((await change({ mode: 'follow', channel: 'stable', follows: 'candidate' })).text, 'follows latest/candidate');
  t.match((await change({ mode: 'clear', channel: 'stable' })).text, 'No fleet changes a channel of this snap.');
  t.match((await change({ mode: 'hide' })).text, 'The fleet is changed.');
  t.match((await admin.open('/console/fleets/pumps')).text, 'Hidden snaps snap/hello');

  const form = '/console/fleets/pumps/window';
  const page = await admin.open('/console/fleets/pumps');
  t.match((await admin.send(page, form, { window: 'Sat 02:00-05:00 UTC' })).text, 'Refresh window Sat 02:00-05:00 UTC');
  t.match(await admin.send(page, form, { window: 'always' }), { status: 400, text: /is not a refresh window/ });
  t.match((await admin.send(page, form, { window: '' })).text, 'None: devices refresh at any time.');
  t.equal((await admin.open('/console/fleets/nothing')).status, 404);

  const publisher = await store.visit('ada');
  for (const address of ['/console/fleets', '/console/fleets/pumps', at])
    t.not((await publisher.open(address)).status, 200, address);
  t.notMatch((await publisher.open('/console/packages/snap/hello')).html, `href="${at}"`);
});

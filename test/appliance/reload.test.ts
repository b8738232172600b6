// A configuration that is read again while the store serves.
import { join } from 'node:path';

import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';

function change(store: TestAppliance, changes: Parameters<typeof changeConfig>[1]): void {
  changeConfig(join(store.directory, 'larder.toml'), changes);
  store.appliance.reload();
}

t.test('the new configuration applies from the next request on', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const ask = async (): Promise<number> =>
    (await ada.post('/internal/v1/package-permissions', { filters: [{ type: 'snap', id: 'x' }] })).status;
  t.equal(await ask(), 200);
  change(store, { 'internal.package_permissions': false });
  t.equal(await ask(), 404);
  change(store, { 'internal.package_permissions': true });
  t.equal(await ask(), 200);

  change(store, { 'names.reserved': ['linux'] });
  t.match(await ada.post('/v1/snap', { name: 'linux' }), { status: 409 });
  change(store, { 'names.reserved': [] });
  t.match(await ada.post('/v1/snap', { name: 'linux' }), { status: 200 });

  change(store, { 'store.id': 'my-store', 'store.offline_mode': false });
  t.match((await ada.get('/v1/snap/linux')).body, { metadata: { store: 'my-store' } });
  t.match((await ada.get('/')).body, { offline: false });
  t.equal((await store.anyone.post('/v1/tokens/offline/exchange', { macaroon: 'x' })).status, 404);

  change(store, { 'uploads.max_size': 10 });
  await t.rejects(ada.upload('eleven bytes'), /413/);
  change(store, { 'uploads.max_size': '1 MiB' });
  t.ok(await ada.upload('eleven bytes'));
  t.equal((await ada.get('/v1/tokens/whoami')).status, 200, 'and nobody has to log in again');
});

t.test('a configuration that is refused changes nothing', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  t.throws(() => change(store, { 'store.id': '' }));
  t.match(await ada.post('/v1/snap', { name: 'hello' }), { status: 200 });
  t.match((await ada.get('/v1/snap/hello')).body, { metadata: { store: 'larder' } });
});

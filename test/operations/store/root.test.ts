import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';

t.test('the service describes itself, to any client', async (t) => {
  const store = await startStore(t);
  for (const path of ['/', '/publishergw', '/publishergw/', '/?unknown=member']) {
    const reply = await store.anyone.get(path);
    t.equal(reply.status, 200, path);
    t.equal(reply.headers.get('content-type'), 'application/json');
    t.equal(reply.headers.get('x-view-name'), 'larder.root');
    t.match(reply.body, {
      service: 'larder',
      version: /^\d+\.\d+\.\d+/,
      'api-version': 61,
      namespaces: ['bin', 'charm', 'snap', 'rock', 'sdk', 'source'],
      offline: true,
    });
  }
  t.equal((await store.with('nonsense').get('/')).status, 200, 'a token is not looked at');
  const online = await startStore(t, (text) => text.replace('offline_mode = true', 'offline_mode = false'));
  t.match((await online.anyone.get('/')).body, { offline: false });
});

t.test('snapd gets the version of this store, if devices are served', async (t) => {
  const serving = await startStore(t, servingSnaps);
  const head = await fetch(`${serving.url}/`, { method: 'HEAD' });
  t.equal(head.status, 200);
  t.equal(head.headers.get('snap-store-version'), '60');
  const other = await startStore(t);
  t.equal((await fetch(`${other.url}/`, { method: 'HEAD' })).headers.get('snap-store-version'), null);
});

t.test('a store that exchanges no administrator credential reports it, with the missing key', async (t) => {
  const missing = async (text: RegExp) => {
    const { anyone } = await startStore(t, (config) => config.replace(text, ''));
    t.match((await anyone.get('/')).body, { offline: false });
    return ((await anyone.get('/readyz')).body as { problems: string[] }).problems;
  };
  t.match(await missing(/^store_admin_macaroon_sha3_384 = .*$/m), [
    /^store\.offline_mode is on and auth\.store_admin_macaroon_sha3_384 is missing, .*\. 'larder admin-macaroon' makes one and sets both\.$/,
  ]);
  t.match(await missing(/^store_admin_\w+ = .*$/gm), [
    /^store\.offline_mode is on and auth\.store_admin_id and auth\.store_admin_macaroon_sha3_384 are missing, /,
  ]);
});

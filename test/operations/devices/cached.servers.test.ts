// A cache in front of the store, the nginx of Debian: the responses that it stores, and their readers.
import t from 'tap';

import { snapFixture, type TestAppliance } from '#test/fixtures/appliance.ts';
import { examplesIn } from '#test/fixtures/guides.ts';
import { startNginx } from '#test/fixtures/servers/nginx.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { pumpDevice, startForDevices } from './world.ts';

const skip = withoutPrograms('nginx');
t.setTimeout(600_000);

/** nginx as the guide for device operators sets it up; the address of it. */
async function cacheBefore(t: Parameters<typeof startForDevices>[0], store: TestAppliance): Promise<string> {
  const [[, ...lines] = []] = examplesIn('devices', 'A cache in front', 1);
  const { port } = await startNginx(t, (listen, folder) =>
    lines
      .join('\n')
      .replace('/var/cache/nginx/larder', `${folder}/cache`)
      .replace('listen 8443', `listen ${listen}`)
      .replaceAll('http://127.0.0.1:8080', store.url),
  );
  return `http://127.0.0.1:${port}`;
}

t.test('a cache stores public files for all clients, and private ones for none', { skip }, async (t) => {
  const { store } = await startForDevices(t);
  const acme = await store.as('acme');
  const content = await snapFixture('app-xz');
  const { id } = (await acme.post('/v1/snap', { name: 'tiny-app', private: true })).body;
  await acme.push('snap', 'tiny-app', content);
  await acme.post('/v1/snap/tiny-app/releases', [{ channel: 'stable', revision: 1 }]);
  const session = await (await pumpDevice(store.anyone)).session();
  const cache = await cacheBefore(t, store);
  const ask = async (headers: Record<string, string> = {}) => {
    const response = await fetch(`${cache}/api/v1/snaps/download/${id}_1.snap`, { headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    return [response.status, response.headers.get('x-cache'), content.includes(bytes) ? bytes.length : 'other'];
  };
  const { length } = content;
  const device = { 'x-device-authorization': session };

  t.same(await ask(device), [200, 'MISS', length], 'a device of the brand first');
  t.match(await ask(), [404], 'a stranger after it');
  t.same(await ask(device), [200, 'MISS', length], 'nor is it kept for the device itself');
  t.match(await ask({ 'x-device-authorization': 'Macaroon root="forged"' }), [401]);
  const token = { authorization: `Macaroon ${acme.token}` };
  t.same(await ask(token), [200, 'MISS', length], 'the account of its publisher');
  t.match(await ask(), [404], 'and a stranger after it');

  await acme.patch('/v1/snap/tiny-app', { private: false });
  t.same(await ask(token), [200, 'MISS', length], 'what a token is sent is never kept');
  t.same(await ask(), [200, 'MISS', length], 'once it is public, anybody');
  t.same(await ask(device), [200, 'HIT', length], 'and everybody after him, from the cache');
  t.same(await ask({ range: 'bytes=1000-' }), [206, 'HIT', length - 1000], 'also the rest of what broke off');

  await store.appliance.stop();
  t.same(await ask(), [200, 'HIT', length], 'while the store is away, too');
  await store.restart();
});

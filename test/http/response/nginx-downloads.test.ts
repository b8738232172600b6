// Downloads that the nginx before the store sends: the permission, the counts and the headers stay those of the store.
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { snapFixture, startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { pushCharm, pushResource, servingCharms } from '#test/fixtures/clients/juju.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { declare, digestOf, logIn, uploadLogin } from '#test/fixtures/packages/images.ts';

const behindNginx = (text: string): string =>
  servingSnaps(servingCharms(text))
    .replace(/^# trusted_proxies = .*$/m, 'trusted_proxies = ["127.0.0.1"]')
    .replace(/^# nginx_location = .*$/m, 'nginx_location = "/larder-blobs"');

const metadata = 'resources:\n  site: {type: file, filename: site.tar}\n';

/** A store with a file behind each door, as the path and the headers of a request for it. */
async function everyDoor(t: Parameters<typeof startStore>[0]) {
  const store = await startStore(t, behindNginx);
  const ada = await store.as('ada');
  const { id: snap } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body as { id: string };
  await ada.push('snap', 'tiny-app', await snapFixture('app-xz'));
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'edge', revision: 1 }]);
  const { id: charm } = (await ada.post('/v1/charm', { name: 'hello' })).body as { id: string };
  await pushCharm(ada, 'hello', { metadata });
  await pushResource(store, ada, '/v1/charm/hello/resources/site', 'the pages');
  const release = { channel: 'edge', revision: 1, resources: [{ name: 'site', revision: 1 }] };
  await ada.post('/v1/charm/hello/releases', [release]);
  await declare(store, 'ada', 'picture');
  const registry = await logIn(store, await uploadLogin(ada, 'picture'));
  const layer = randomBytes(100_000);
  await registry.blob(layer);
  const authorization = `Bearer ${registry.token}`;
  const doors: [path: string, headers: Record<string, string>][] = [
    [`/api/v1/snaps/download/${snap}_1.snap`, {}],
    [`/api/v1/charms/download/${charm}_1.charm`, {}],
    [`/api/v1/resources/download/charm_${charm}.site_1`, {}],
    [`/v2/${registry.repository}/blobs/${digestOf(layer)}`, { authorization }],
  ];
  return { store, ada, doors };
}

const fromNginx = { 'x-sendfile-type': 'X-Accel-Redirect' };

async function ask(store: TestAppliance, path: string, headers: Record<string, string>, method = 'GET') {
  const response = await fetch(store.url + path, { method, headers });
  const { status } = response;
  return { status, location: response.headers.get('x-accel-redirect'), response, bytes: await response.bytes() };
}

/** The file in the data directory that nginx would send. */
const fileAt = (store: TestAppliance, location: string | null): string => {
  t.match(location, /^\/larder-blobs\/([0-9a-f]{2})\/\1[0-9a-f]{94}$/);
  return join(store.directory, 'blobs/sha3', (location ?? '').slice('/larder-blobs/'.length));
};

t.test('nginx sends the files of every door, with the headers of the store', async (t) => {
  const { store, doors } = await everyDoor(t);
  for (const [path, headers] of doors) {
    const direct = await ask(store, path, headers);
    t.match(direct, { status: 200, location: null }, path);
    t.match(
      await ask(store, path, { ...headers, ...fromNginx }),
      { status: 200, location: null },
      'it is verified first',
    );
    t.match(await ask(store, path, { ...headers, ...fromNginx, range: 'bytes=0-0' }), { status: 206 });
    const handed = await ask(store, path, { ...headers, ...fromNginx });
    t.match(handed, { status: 200, location: /^./, bytes: { length: 0 } }, path);
    t.same(readFileSync(fileAt(store, handed.location)), Buffer.from(direct.bytes));
    const own = ['x-request-id', 'date', 'connection', 'keep-alive', 'content-length', 'accept-ranges'];
    for (const [name, value] of direct.response.headers) {
      if (!own.includes(name)) t.equal(handed.response.headers.get(name), value, name);
    }
    t.equal(handed.response.headers.get('accept-ranges'), null, 'nginx adds it');
    t.equal(handed.response.headers.get('vary'), 'X-Sendfile-Type', 'no cache gives it to others');

    const part = await ask(store, path, { ...headers, ...fromNginx, range: 'bytes=2-4' });
    t.match(part, { status: 206, location: handed.location, bytes: { length: 0 } });
    t.equal(part.response.headers.get('content-range'), `bytes 2-4/${direct.bytes.length}`);
    const head = await ask(store, path, { ...headers, ...fromNginx }, 'HEAD');
    t.match(head, { status: 200, location: null });
    t.equal(head.response.headers.get('content-length'), String(direct.bytes.length));
    t.match(await ask(store, path, { ...headers, ...fromNginx, range: `bytes=${direct.bytes.length}-` }), {
      status: 416,
      location: null,
    });
    for (const left of [{ range: 'bytes=0-1,5-6' }, { range: 'lines=1' }, { 'if-match': '"x"' }]) {
      const sent = await ask(store, path, { ...headers, ...fromNginx, ...left });
      t.match(sent, { status: 200, location: null, bytes: { length: direct.bytes.length } }, JSON.stringify(left));
    }
  }
  const [[path]] = doors as [[string, object]];
  const etag = (await ask(store, path, {})).response.headers.get('etag') ?? '';
  t.match(await ask(store, path, { ...fromNginx, 'if-none-match': etag }), { status: 304, location: null });
});

t.test(
  'only an nginx that is a trusted proxy sends files, and only if the configuration names its location',
  async (t) => {
    const { store, ada, doors } = await everyDoor(t);
    const [[path]] = doors as [[string, object]];
    const asNginx = (more: Record<string, string> = {}) => ask(store, path, { ...fromNginx, ...more });
    const configure = (changes: Parameters<typeof changeConfig>[1]): void => {
      changeConfig(join(store.directory, 'larder.toml'), changes);
      store.appliance.reload();
    };
    await asNginx({ range: 'bytes=0-0' });
    t.match(await asNginx(), { location: /^\/larder-blobs/ });
    t.match(await ask(store, path, {}), { location: null }, 'another client of this address');
    t.match(await ask(store, path, { 'x-sendfile-type': 'X-Sendfile' }), { location: null });
    for (const [off, on] of [
      [{ 'http.trusted_proxies': ['10.0.0.2'] }, { 'http.trusted_proxies': ['127.0.0.0/8'] }],
      [{ 'http.nginx_location': undefined }, { 'http.nginx_location': '/larder-blobs' }],
      [{ 'devices.max_downloads': 5 }, { 'devices.max_downloads': undefined }],
      [{ 'devices.max_download_rate': 1_000_000 }, { 'devices.max_download_rate': undefined }],
    ]) {
      configure(off ?? {});
      t.match(await asNginx(), { status: 200, location: null }, JSON.stringify(off));
      configure(on ?? {});
      t.match(await asNginx(), { status: 200, location: /^\/larder-blobs/ }, JSON.stringify(on));
    }
    await ada.patch('/v1/snap/tiny-app', { private: true });
    t.match(await asNginx(), { status: 404, location: null }, 'without the permission');
    t.match(await asNginx({ authorization: `Macaroon ${ada.token}` }), { location: /^\/larder-blobs/ });
    await store.restart();
    const root = await store.as('root');
    const { total } = (await root.get('/internal/v1/packages/snap/tiny-app')).body.downloads as { total: number };
    t.equal(total, 12, 'each download is counted, and no range');
  },
);

t.test('a corrupt file never goes to nginx, and the group reads files but no folder and no secret', async (t) => {
  const { store, doors } = await everyDoor(t);
  const [[path]] = doors as [[string, object]];
  const asNginx = (more: Record<string, string> = {}) => ask(store, path, { ...fromNginx, ...more });
  await asNginx({ range: 'bytes=0-0' });
  const { location } = await asNginx();
  const file = fileAt(store, location);
  const modeOf = (name: string): number => statSync(name).mode & 0o777;
  t.equal(modeOf(file), 0o640);
  const folders = [dirname(file), join(store.directory, 'blobs/sha3'), join(store.directory, 'blobs')];
  t.same(folders.map(modeOf), [0o710, 0o710, 0o710]);
  for (const name of ['blobs/tmp', 'blobs/quarantine', 'blobs/leaving'])
    t.equal(modeOf(join(store.directory, name)), 0o700);
  for (const name of ['larder.toml', 'larder.db', 'site.key'])
    t.equal(modeOf(join(store.directory, name)) & 0o077, 0, name);

  const damaged = readFileSync(file);
  damaged[100]! ^= 1;
  writeFileSync(file, damaged);
  t.match(await asNginx({ range: 'bytes=0-9' }), { status: 500, location: null });
  // The job of the quarantine runs beside this request.
  const whole = await asNginx().catch(() => ({ status: 404, location: null }));
  t.match(whole, { status: 404, location: null }, 'the store breaks off, or has the file in quarantine');
});

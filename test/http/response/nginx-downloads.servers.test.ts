// The guide for administrators, behind a proxy: Debian's nginx, set up as written, sends the files of downloads as another user.
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { join } from 'node:path';

import { parse } from 'smol-toml';
import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { examplesIn } from '#test/fixtures/guides.ts';
import { declare, digestOf, logIn, uploadLogin } from '#test/fixtures/packages/images.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';
import { makeSiteCertificate, startNginx } from '#test/fixtures/servers/nginx.ts';

const skip =
  withoutPrograms('nginx', 'openssl') || (process.getuid?.() !== 0 && 'only root can start nginx as another user');
t.setTimeout(120_000);

const name = 'store.example.internal';

t.test('nginx sends the files, as a user that reads nothing else of the store', { skip }, async (t) => {
  const [[, ...settings] = [], typed = [], [, ...server] = []] = examplesIn('administrator', 'Behind a proxy', 3);
  const store = await startStore(t, servingSnaps);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'tiny-app' })).body as { id: string };
  const snap = await snapFixture('app-xz');
  await ada.push('snap', 'tiny-app', snap);
  await ada.post('/v1/snap/tiny-app/releases', [{ channel: 'edge', revision: 1 }]);
  await declare(store, 'ada', 'picture');
  const registry = await logIn(store, await uploadLogin(ada, 'picture'));
  const layer = randomBytes(5_000_000);
  await registry.blob(layer);

  const { http } = parse(settings.join('\n')) as { http: Record<string, string> };
  changeConfig(join(store.directory, 'larder.toml'), {
    'http.trusted_proxies': http['trusted_proxies'],
    'http.nginx_location': http['nginx_location'],
  });
  store.appliance.reload();
  t.equal(typed[0], 'usermod --append --groups larder www-data', 'here the group is root, and the user nobody');
  const [, mode = ''] = /StateDirectoryMode=(\d+)/.exec(typed.join('\n')) ?? [];
  t.match(
    readFileSync('packaging/debian/larder.service', 'utf8'),
    /^StateDirectoryMode=0700$/m,
    'the drop-in replaces it',
  );
  chmodSync(store.directory, Number.parseInt(mode, 8));

  const { port, folder } = await startNginx(
    t,
    (listen, folder) => {
      const { key, certificate } = makeSiteCertificate(folder, name);
      return server
        .join('\n')
        .replace('listen 443', `listen ${listen}`)
        .replace('/etc/nginx/store.pem', certificate)
        .replace('/etc/nginx/store.key', key)
        .replace(http['base_url']!.replace(name, http['listen']!), store.url)
        .replace('/var/lib/larder/tls/ca.pem', certificate)
        .replaceAll('/var/lib/larder', store.directory);
    },
    'nobody root',
  );
  const ca = readFileSync(join(folder, 'store.pem'));
  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, servername: name, ca, method, path, headers, agent: false };
      request(options, resolve).on('error', reject).end();
    });
    const bytes = await buffer(reply);
    return { status: reply.statusCode, headers: reply.headers, bytes };
  };
  const authorization = `Bearer ${registry.token}`;
  const image = `/v2/${registry.repository}/blobs/${digestOf(layer)}`;
  const doors: [string, Record<string, string>, Buffer][] = [
    [`/api/v1/snaps/download/${id}_1.snap`, {}, snap],
    [image, { authorization }, layer],
  ];
  for (const [path, headers, content] of doors) {
    const direct = await fetch(store.url + path, { headers });
    t.same(Buffer.from(await direct.arrayBuffer()), content);
    t.equal(direct.headers.get('x-accel-redirect'), null);
    // The store sends this range itself, and verifies the file.
    t.equal((await ask(path, { ...headers, range: 'bytes=0-0' })).status, 206);
    const whole = await ask(path, headers);
    t.same([whole.status, whole.bytes.equals(content)], [200, true], path);
    const own = ['x-request-id', 'date', 'connection', 'keep-alive', 'server'];
    for (const [key, value] of direct.headers) if (!own.includes(key)) t.equal(whole.headers[key], value, key);
    t.equal(whole.headers['accept-ranges'], 'bytes');
    t.same([whole.headers['x-accel-redirect'], whole.headers['last-modified']], [undefined, undefined]);
    t.match(whole.headers['x-request-id'], /^[0-9a-f-]{36}$/);
    const etag = whole.headers.etag!;
    for (const [range, part] of [
      ['bytes=2-4', content.subarray(2, 5)],
      ['bytes=1000-', content.subarray(1000)],
      ['bytes=-10', content.subarray(-10)],
    ] as const) {
      const sent = await ask(path, { ...headers, range, 'if-range': etag });
      t.same([sent.status, sent.bytes.equals(part)], [206, true], range);
      t.match(sent.headers['content-range'], new RegExp(`^bytes \\d+-\\d+/${content.length}$`));
      t.equal(sent.headers.etag, etag);
    }
    for (const range of ['bytes=9-1', 'bytes=0-1,5-6', 'lines=1-2']) {
      t.same((await ask(path, { ...headers, range })).bytes.length, content.length, range);
    }
    t.equal((await ask(path, { ...headers, range: `bytes=${content.length}-` })).status, 416);
    const head = await ask(path, headers, 'HEAD');
    t.match(head, { status: 200, headers: { etag, 'content-length': String(content.length) } });
    t.equal((await ask(path, { ...headers, 'if-modified-since': new Date().toUTCString() })).status, 200);
  }
  const [[path]] = doors as [[string, object, Buffer]];
  const { etag } = (await ask(path)).headers;
  t.match(await ask(path, { 'if-none-match': etag! }), { status: 304 });

  t.equal((await ask(image)).status, 401, 'without a token');
  const sha3 = createHash('sha3-384').update(layer).digest('hex');
  const blob = `${sha3.slice(0, 2)}/${sha3}`;
  const guesses = [`/larder-blobs/${blob}`, '/larder-blobs/../site.key', '/larder-blobs/%2e%2e/%2e%2e/site.key'];
  for (const guess of guesses) t.ok([400, 404].includes((await ask(guess)).status ?? 0), guess);
  await ada.patch('/v1/snap/tiny-app', { private: true });
  t.equal((await ask(path)).status, 404, 'once the snap is private');

  const canRead = (file: string): boolean =>
    spawnSync('/usr/bin/test', ['-r', join(store.directory, file)], { uid: 65_534, gid: 0 }).status === 0;
  t.ok(canRead(`blobs/sha3/${blob}`));
  const secrets = ['larder.toml', 'larder.db', 'site.key', 'blobs/quarantine', 'blobs/tmp', 'blobs/sha3'];
  t.same(secrets.filter(canRead), []);
  t.equal((await ask(image, { authorization })).status, 200);
  chmodSync(store.directory, 0o700);
  t.equal((await ask(image, { authorization })).status, 403, 'nginx opens the file itself');
});

// The lines that set up a device for this store, run as printed by a shell with a `snap` that records its arguments.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { parseStream } from '#assertions/format/assertion.ts';
import { openStore } from '#test/fixtures/records/writable.ts';
import { requestedJudge } from '#test/assertions/judge.ts';
import { made, timestamp, trusted } from '#test/assertions/world.ts';
import { keep, startForDevices } from '#test/operations/devices/world.ts';
import { folder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';

t.setTimeout(600_000);

/** Runs lines where `snap` writes each of its calls, and a copy of every file that it is given; the calls. */
function run(t: Parameters<typeof startForDevices>[0], lines: string) {
  const place = folder(t);
  const bin = join(place, 'bin');
  mkdirSync(bin);
  mkdirSync(join(place, 'tmp'));
  const stub = `#!/bin/sh\nprintf '%s\\0' "$@" >> ${place}/calls\nprintf '\\n\\0' >> ${place}/calls\n[ "$1" != ack ] || cat "$2" > ${place}/acknowledged\n`;
  writeFileSync(join(bin, 'snap'), stub);
  chmodSync(join(bin, 'snap'), 0o755);
  const env = { PATH: `${bin}:/usr/bin:/bin`, TMPDIR: join(place, 'tmp') };
  const { status, stderr } = spawnSync('sh', { input: lines, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const calls = readFileSync(join(place, 'calls'), 'utf8')
    .split('\n\0')
    .slice(0, -1)
    .map((call) => call.split('\0').slice(0, -1));
  const acknowledged = readFileSync(join(place, 'acknowledged'), 'utf8');
  writeFileSync(join(place, 'roots'), trusted);
  return { calls, acknowledged, left: readdirSync(join(place, 'tmp')), roots: join(place, 'roots') };
}

t.test('the printed lines are run on a device, and it has all that it needs', async (t) => {
  const { store } = await startForDevices(t);
  const snippet = () => larder(`device snippet --data ${store.directory}`);
  const id = store.beside.config.store.id;
  t.match(await snippet(), { code: 1, err: /store assertion of 'larder' is not stored here/ });
  const without = (await larder(`device snippet --without-assertion --data ${store.directory}`)).out;
  t.match(without, `Environment=SNAPPY_FORCE_API_URL=%s\\n' '${store.beside.config.http.base_url}' >`);
  t.notMatch(without, /snap ack|proxy\.store/);
  const root = folder(t);
  mkdirSync(join(root, 'bin'));
  for (const name of ['snap', 'systemctl']) {
    writeFileSync(join(root, 'bin', name), `#!/bin/sh\necho ${name} "$@" >> ${root}/calls\n`, { mode: 0o755 });
  }
  const { status } = spawnSync('sh', {
    input: without.replaceAll('/etc/', `${root}/etc/`),
    env: { PATH: `${join(root, 'bin')}:/usr/bin:/bin` },
  });
  t.equal(status, 0);
  t.equal(
    readFileSync(join(root, 'etc/systemd/system/snapd.service.d/larder.conf'), 'utf8'),
    `[Service]\nEnvironment=SNAPPY_FORCE_API_URL=${store.beside.config.http.base_url}\n`,
  );
  t.match(readFileSync(join(root, 'calls'), 'utf8'), /systemctl daemon-reload\nsystemctl restart snapd\n$/);
  const assertion = (headers: Record<string, string>) =>
    made('store', 'authority', 'store', { store: id, 'operator-id': 'acme', timestamp, ...headers });
  await keep(store, await assertion({}));
  t.match(await snippet(), { code: 1, err: /names no address/ });
  await keep(store, await assertion({ url: 'https://elsewhere.example', revision: '1' }));
  t.match(await snippet(), { code: 1, err: /names the address https:\/\/elsewhere\.example, and this store is at/ });
  await keep(store, await assertion({ url: store.beside.config.http.base_url, revision: '2' }));

  const { code, out } = await snippet();
  t.equal(code, 0);
  const { calls, acknowledged, left, roots } = run(t, out);
  t.match(calls, [
    ['ack', /./],
    ['set', 'core', `proxy.store=${id}`],
  ]);
  t.equal(calls.length, 2);
  t.same(left, [], 'it leaves nothing behind');
  const { body } = await store.anyone.get('/v2/auth/store/assertions');
  t.same(parseStream(acknowledged), parseStream(body as string), 'it acknowledges what the store itself tells devices');
  const judge = requestedJudge();
  if (judge) {
    const { status, stderr } = judge(acknowledged, '-trusted', roots);
    t.equal(status, 0, `snapd's own library takes it ${stderr}`);
  }
});

t.test('with an authority, a device comes to trust it, character by character', async (t) => {
  const directory = join(folder(t), 'data');
  t.match(await larder(`init --data ${directory} --base-url https://localhost:8443`), { code: 0 });
  const writableStore = await openStore({ directory });
  const { id } = writableStore.config.store;
  const headers = { store: id, 'operator-id': 'acme', timestamp, url: 'https://localhost:8443/' };
  await keep({ beside: writableStore, clock: { now: new Date() } }, await made('store', 'authority', 'store', headers));
  await writableStore.close();
  const { out } = await larder(`device snippet --data ${directory}`);
  const [trusts] = run(t, out).calls;
  const authority = readFileSync(join(directory, 'tls', 'ca.pem'), 'utf8').trimEnd();
  t.same(trusts, ['set', 'system', `store-certs.larder=${authority}`]);
});

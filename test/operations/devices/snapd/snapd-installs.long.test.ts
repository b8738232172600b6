// snapd as a device runs it, in a booted container: its Debian package, with the daemon rebuilt from its sources with
// test roots. It is configured for this store, installs, and refreshes to a later release. Part of `npm run test:long`.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { parseAssertion, type Assertion } from '#assertions/format/assertion.ts';
import { buildSnapCommand, buildSnapDaemon, snapCommandMissing, testRoots } from '#test/assertions/judge.ts';
import { keys, made, now, timestamp } from '#test/assertions/world.ts';
import { larder } from '#test/cli/world.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { trusting } from '#test/fixtures/brands.ts';
import { boot, makeSystem, missingForContainer, type Container } from '#test/fixtures/servers/container.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { withoutPackages } from '#test/fixtures/programs.ts';
import { withoutSquashfsTools } from '#test/review/mksquashfs.ts';
import { carry, root, takeIn } from './carried.ts';
import { keep } from '#test/operations/devices/world.ts';

const skip = missingForContainer() || withoutPackages(...snapCommandMissing()) || withoutSquashfsTools;
t.setTimeout(1_800_000);

/** A store that trusts the test roots of snapd, with a store assertion for devices that is signed by them. */
async function trustedStore(t: Parameters<typeof startStore>[0], roots: string, key: Assertion) {
  const port = await freePort();
  const trusts = trusting(t, roots);
  const configured = (text: string): string =>
    servingSnaps(trusts(text)).replace('127.0.0.1:0', `127.0.0.1:${port}`).replaceAll(':8080', `:${port}`);
  const store = await startStore(t, configured, now);
  const { id } = store.beside.config.store;
  const headers = { store: id, 'operator-id': root, timestamp, url: store.beside.config.http.base_url };
  await keep(store, key, await made('store', root, 'store', headers));
  return store;
}

/** Boots a Debian system with snapd, which trusts the test roots as well as its own. */
async function bootDevice(t: Parameters<typeof startStore>[0], base: string): Promise<Container> {
  const folder = join(base, 'system');
  makeSystem(folder);
  const script = 'apt-get -q update && apt-get -qy --no-install-recommends install snapd && apt-get clean';
  const env = { PATH: process.env['PATH'], DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' };
  execFileSync('chroot', [folder, 'sh', '-c', script], { env, stdio: 'pipe' });
  copyFileSync(buildSnapDaemon(), join(folder, 'usr/lib/snapd/snapd'));
  copyFileSync(buildSnapCommand(), join(folder, 'usr/bin/snap'));
  writeFileSync(join(folder, 'etc/environment'), 'SNAP_REEXEC=0\n');
  // Devices are the host's and no udev runs in a container, but snapd insists that it reads its rules.
  rmSync(join(folder, 'usr/bin/udevadm'));
  symlinkSync('true', join(folder, 'usr/bin/udevadm'));
  const loops = readdirSync('/dev').filter((name) => /^loop(?:\d+|-control)$/.test(name));
  const device = await boot(folder, Object.fromEntries(loops.map((name) => [`/dev/${name}`, `/dev/${name}`])));
  t.teardown(() => device.stop());
  return device;
}

t.test('snapd installs from this store, and refreshes to a later release there', { skip }, async (t) => {
  const { roots, key: text } = testRoots(keys.store);
  const key = parseAssertion(text);
  const store = await trustedStore(t, roots, key);
  const base = mkdtempSync(join(tmpdir(), 'larder-snapd-'));
  t.teardown(() => rmSync(base, { recursive: true, force: true }));
  const [first, second] = [join(base, 'first'), join(base, 'second')];
  mkdirSync(first);
  mkdirSync(second);
  const hello = (revision: number) => {
    const files = { said: `this is revision ${revision}` };
    return { name: 'hello', revision, yaml: 'base: ground\n', files };
  };
  // snapd gives every system snap this slot, and asks its declaration whether it may have it.
  const declared = { format: '1', slots: { 'shared-memory': 'true' } };
  const files = { 'usr/lib/snapd/info': 'VERSION=2.57.6\n' };
  await carry(t, first, { name: 'snapd', yaml: 'type: snapd\n', files, declared }, key);
  await carry(t, first, { name: 'ground', yaml: 'type: base\n' }, key);
  await carry(t, first, hello(1), key);
  await carry(t, second, hello(2), key);

  const device = await bootDevice(t, base);
  const snap = (...args: string[]) => device.meanwhile('snap', ...args);
  const readRevision = () => device.try('cat', '/snap/hello/current/said').out;
  t.match(await snap('wait', 'system', 'seed.loaded'), { code: 0 });
  const snippet = await larder(`device snippet --data ${store.directory}`);
  t.match(snippet, { code: 0 });
  t.match(await device.meanwhile('sh', '-euc', snippet.out), { code: 0 }, 'the printed lines point it here');

  t.match(await snap('install', 'hello'), { code: 1, err: 'error: snap "hello" not found\n' }, 'before it is here');
  await takeIn(store, first);
  t.match(await snap('install', 'hello'), { code: 0, out: /hello 1 from Testrootorg\S* installed/ });
  t.match(await snap('list'), { out: /^ground +7 +7 [^]*^hello +1 +1 [^]*^snapd +7 +7 /m }, 'with all that it needs');
  t.match(device.run('cat', '/proc/mounts'), /^\/dev\/loop\d+ \/snap\/hello\/1 squashfs ro,/m);
  t.equal(readRevision(), 'this is revision 1');

  t.match(await snap('refresh'), { code: 0, err: 'All snaps up to date.\n' });
  await takeIn(store, second);
  t.match(await snap('refresh'), { code: 0, out: /hello 2 from Testrootorg\S* refreshed/ });
  t.match(await snap('list', '--all', 'hello'), { out: /^hello +1 +1 .* disabled\nhello +2 +2 .* -$/m });
  t.equal(readRevision(), 'this is revision 2');
  const changes = (await snap('changes')).out;
  t.match(changes, /^\d+ +Done .* Install "hello" snap$/m);
  t.match(changes, /^\d+ +Done .* Refresh snap "hello"$/m);

  t.match(await snap('revert', 'hello'), { code: 0, out: /hello reverted to 1/ });
  t.equal(readRevision(), 'this is revision 1');
});

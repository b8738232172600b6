// snapd's own program, built from Debian's package of its sources with its test roots: it fetches from this store and checks
// all that a device checks before it installs. Its daemon installs in snapd-installs.long.test.ts.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

import { parseAssertion, stream } from '#assertions/format/assertion.ts';
import { buildSnapCommand, snapCommandMissing, testRoots } from '#test/assertions/judge.ts';
import { keys, made, now, timestamp } from '#test/assertions/world.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { trusting } from '#test/fixtures/brands.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { withoutPackages } from '#test/fixtures/programs.ts';
import { pack } from '#test/review/packed.ts';
import { carry, root, takeIn } from './carried.ts';

const skip = withoutPackages(...snapCommandMissing());
t.setTimeout(900_000);

/** A store that trusts the test roots of snapd and serves devices, and `snap` on a machine without state. */
async function world(t: Parameters<typeof startStore>[0] & Parameters<typeof pack>[0]) {
  const program = buildSnapCommand();
  const { roots, key } = testRoots(keys.store);
  const port = await freePort();
  const trusts = trusting(t, roots);
  const configured = (text: string): string =>
    servingSnaps(trusts(text)).replace('127.0.0.1:0', `127.0.0.1:${port}`).replaceAll(':8080', `:${port}`);
  const store = await startStore(t, configured, now);
  const home = mkdtempSync(join(tmpdir(), 'larder-snap-'));
  t.teardown(() => rmSync(home, { recursive: true }));
  const stick = join(home, 'stick');
  mkdirSync(stick);
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    SNAP_REEXEC: '0',
    UBUNTU_STORE_ARCH: 'amd64',
    SNAPPY_FORCE_API_URL: store.url,
    SNAPPY_FORCE_SAS_URL: `${store.url}/`,
    UBUNTU_STORE_URL: store.url,
  };
  const snap = (...args: string[]): Promise<{ code: number; said: string }> =>
    promisify(execFile)(program, args, { cwd: home, env }).then(
      ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
      (error: unknown) => {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, said: stdout + stderr };
      },
    );
  return { store, snap, home, stick, key: parseAssertion(key) };
}

t.test('snap download fetches a snap that was carried in, and checks what vouches for it', { skip }, async (t) => {
  const { store, snap, home, stick, key } = await world(t);
  const content = await carry(
    t,
    stick,
    { name: 'hello', yaml: 'base: core22\napps:\n  run:\n    command: run\n' },
    key,
  );
  t.match(await snap('download', 'hello'), { code: 1, said: /snap not found/ }, 'before it is here');
  await takeIn(store, stick);
  t.match(await snap('download', 'hello'), { code: 0, said: /snap ack hello_7\.assert/ });
  t.same(readFileSync(join(home, 'hello_7.snap')), content);
  const fetched = readFileSync(join(home, 'hello_7.assert'), 'utf8');
  for (const type of ['account-key', 'snap-declaration', 'snap-revision']) t.match(fetched, `type: ${type}\n`);

  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'made-here' });
  await ada.push('snap', 'made-here', readFileSync(pack(t, { 'meta/snap.yaml': 'name: made-here\nversion: 1\n' })));
  await ada.post('/v1/snap/made-here/releases', [{ channel: 'stable', revision: 1 }]);
  const refused = await snap('download', 'made-here');
  t.match(refused, { code: 1, said: /cannot.*snap-revision|not found/ }, 'what nobody vouches for it does not take');
});

t.test('snap prepare-image makes an image of what this store has', { skip }, async (t) => {
  const { store, snap, home, stick, key } = await world(t);
  await carry(t, stick, { name: 'snapd', yaml: 'type: snapd\n' }, key);
  await carry(t, stick, { name: 'core22', yaml: 'type: base\n' }, key);
  await carry(t, stick, { name: 'hello', yaml: 'base: core22\napps:\n  run:\n    command: run\n' }, key);
  await takeIn(store, stick);
  const model = await made('store', root, 'model', {
    series: '16',
    'brand-id': root,
    model: 'desk',
    classic: 'true',
    architecture: 'amd64',
    timestamp,
    'required-snaps': ['hello', 'core22', 'snapd'],
  });
  writeFileSync(join(home, 'model.assert'), stream([model]));
  const output = await snap('prepare-image', '--classic', '--arch', 'amd64', 'model.assert', join(home, 'image'));
  t.match(output, { code: 0 }, output.said);
  const seed = join(home, 'image/var/lib/snapd/seed');
  t.ok(existsSync(join(seed, 'seed.yaml')), output.said);
  t.same(readdirSync(join(seed, 'snaps')).sort(), ['core22_7.snap', 'hello_7.snap', 'snapd_7.snap']);
});

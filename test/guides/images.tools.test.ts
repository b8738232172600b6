// The guide for building images with private snaps, typed as it stands, with snapd's own program from Debian's package of its sources.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t, { type Test } from 'tap';

import { parseAssertion, stream } from '#assertions/format/assertion.ts';
import { changeConfig } from '#configuration/config.ts';
import { buildSnapCommand, snapCommandMissing, testRoots } from '#test/assertions/judge.ts';
import { keys, made, timestamp } from '#test/assertions/world.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { examplesIn } from '#test/fixtures/guides.ts';
import { withoutPackages } from '#test/fixtures/programs.ts';
import { carry, root } from '#test/operations/devices/snapd/carried.ts';
import { folder, newStore, start } from '#test/cli/process.ts';

const skip = withoutPackages(...snapCommandMissing(), ...(existsSync('/usr/bin/unsquashfs') ? [] : ['squashfs-tools']));
t.setTimeout(900_000);

const source = join(import.meta.dirname, '../..');
const privateSnaps = ['pump-kernel', 'pump-gadget'];

/** A store with the snaps of a model, two of them private, and a shell on the machine that builds images. */
async function world(t: Test) {
  const program = buildSnapCommand();
  const { roots, key } = testRoots(keys.store);
  const [bin, stick, desk] = [folder(t), folder(t), folder(t)];
  const listen = `127.0.0.1:${await freePort()}`;
  const store = await newStore(t, `--base-url http://${listen} --listen ${listen}`);
  writeFileSync(join(bin, 'roots.assert'), roots);
  changeConfig(join(store.data, 'larder.toml'), {
    'assertions.trusted': [join(bin, 'roots.assert')],
    'devices.snap': true,
  });
  await start(t, ['serve', '--data', store.data]).says(/"url":"/);
  const gadget = {
    'meta/gadget.yaml': 'volumes:\n  pump:\n    bootloader: grub\n',
    'grub.conf': 'set timeout=0\n',
  };
  for (const [name, yaml, files] of [
    ['snapd', 'type: snapd\n', {}],
    ['core18', 'type: base\n', {}],
    ['pump-kernel', 'type: kernel\n', { 'kernel.img': 'a kernel' }],
    ['pump-gadget', 'type: gadget\nbase: core18\n', gadget],
  ] as const)
    await carry(t, stick, { name, yaml, files }, parseAssertion(key));
  for (const line of [
    `account create --id ${root} --email pumps@example.org --username pumps --display-name Pumps`,
    `package import ${stick} --release stable`,
  ]) {
    const { code, err } = await store.larder(line);
    t.equal(code, 0, err);
  }
  const admin = (await store.json('token issue --account larder-admin')) as { macaroon: string };
  for (const name of privateSnaps) {
    const { status } = await fetch(`http://${listen}/v1/snap/${name}`, {
      method: 'PATCH',
      headers: { authorization: `Macaroon ${admin.macaroon}`, 'content-type': 'application/json' },
      body: JSON.stringify({ private: true }),
    });
    t.equal(status, 200, name);
  }
  const model = await made('store', root, 'model', {
    series: '16',
    'brand-id': root,
    model: 'pump',
    architecture: 'amd64',
    base: 'core18',
    kernel: 'pump-kernel',
    gadget: 'pump-gadget',
    timestamp,
  });
  writeFileSync(join(desk, 'pump.model'), stream([model]));
  const script = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const run = `exec env -u NODE_OPTIONS '${process.execPath}' '${join(source, 'src/main.ts')}' "$@"`;
  script('larder', run);
  script('snap', `exec '${program}' "$@"`);
  // Debian has no ubuntu-image. It calls the same code of snapd, which reads the same variables.
  script('ubuntu-image', 'test "$1" = snap && exec snap prepare-image "$2" from-ubuntu-image');
  mkdirSync(join(bin, 'home'));
  const env = {
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: join(bin, 'home'),
    LARDER_DATA: store.data,
    SNAP_REEXEC: '0',
    UBUNTU_STORE_ARCH: 'amd64',
  };
  const sh = (...lines: string[]): Promise<{ code: number; said: string }> =>
    promisify(execFile)('sh', ['-c', ['set -e', ...lines].join('\n')], { cwd: desk, env }).then(
      ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
      (error: unknown) => {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, said: stdout + stderr };
      },
    );
  return { store, sh, desk, stick, url: `http://${listen}` };
}

t.test('the guide builds an image of a model with a private kernel and gadget', { skip }, async (t) => {
  const { store, sh, desk, stick, url } = await world(t);
  const [[issue = ''] = [], [download = '', prepare = '', ubuntuImage = ''] = []] = examplesIn(
    'devices',
    'Build images with private snaps',
    2,
  );
  const environment = [`export UBUNTU_STORE_URL=${url}`];
  t.match(await sh(...environment, download), { code: 1, said: /snap not found/ }, 'without a token');
  t.match(await sh(...environment, prepare), { code: 1, said: /snap not found|cannot download/ });

  const paste = `eval "$(${issue.replace('--account ID', `--account ${root}`)})"`;
  const built = await sh(paste, download, prepare, ubuntuImage);
  t.equal(built.code, 0, built.said);
  const name = `${privateSnaps[0] ?? ''}_7.snap`;
  t.same(readFileSync(join(desk, name)), readFileSync(join(stick, name)));
  for (const image of ['pump-image', 'from-ubuntu-image']) {
    const seed = join(desk, image, 'image/var/lib/snapd/seed');
    t.same(
      readdirSync(join(seed, 'snaps')).sort(),
      ['core18_7.snap', 'pump-gadget_7.snap', 'pump-kernel_7.snap', 'snapd_7.snap'],
      image,
    );
    for (const snap of privateSnaps) {
      const [seeded, carried] = [join(seed, 'snaps', `${snap}_7.snap`), join(stick, `${snap}_7.snap`)];
      t.same(readFileSync(seeded), readFileSync(carried), snap);
    }
    t.match(readFileSync(join(seed, 'seed.yaml'), 'utf8'), /name: pump-kernel/);
  }
  const login = join(desk, 'larder-images.login');
  t.equal(statSync(login).mode & 0o777, 0o600, 'only its owner reads the login');

  const later = [
    'export UBUNTU_STORE_AUTH="$(cat larder-images.login)"',
    `export UBUNTU_STORE_URL=${url}`,
    'rm -f pump-kernel_7.snap',
  ];
  t.match(await sh(...later, download), { code: 0 }, 'a later shell reads the login from the file');
  const narrow = paste.replace('--for images', '--for images --package snap:pump-gadget');
  t.match(await sh(narrow, 'rm -f pump-*_7.snap', 'snap download pump-gadget', 'snap download pump-kernel'), {
    code: 1,
    said: /snap ack pump-gadget_7\.assert[^]*snap not found/,
  });
  const channels = paste.replace('--for images', '--for images --channel latest/edge');
  t.match(await sh(channels, 'rm -f pump-*_7.snap', download), {
    code: 1,
    said: /no snap revision available as specified/,
  });
  t.match(await sh(paste, 'snap download --revision=9 pump-kernel'), { code: 1, said: /no snap revision available/ });

  t.match(await store.larder(`token revoke --account ${root} --yes`), { code: 0 });
  t.match(await sh(...later, download), { code: 1, said: /unexpected HTTP status code 401/ }, 'after it is revoked');
});

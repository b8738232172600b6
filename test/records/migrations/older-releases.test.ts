// Data of each earlier release: its backup is restored with its content, and its transfer is received and accepted.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { commandsOn, folder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { snapFixture, startStore } from '#test/fixtures/appliance.ts';
import { charm } from '#test/fixtures/packages/archives.ts';
import { keepOlderFiles, writeOlderFiles } from '#test/fixtures/records/older-stores.ts';
import { site } from '#test/transfers/sites.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const listBackups = (): string[] => readdirSync(join(root, 'test/fixtures/older-stores'));
const passphrase = 'nine small green apples';

/** The released versions, as the changelog heads them. */
const released = [...read('CHANGELOG.md').matchAll(/^## \[(\d+\.\d+\.\d+)\] - /gm)].map(([, version]) => version!);

/** Makes the backup that later releases keep of this one: one snap and one charm, released. Run it with LARDER_KEEP=1 at a release. */
async function keepBackup(t: Test, version: string): Promise<void> {
  const store = await startStore(t);
  const ada = await store.as('ada');
  for (const [namespace, name, content] of [
    ['snap', 'tiny-app', await snapFixture('app-xz')],
    ['charm', 'postgres', charm('postgres')],
  ] as const) {
    await ada.post(`/v1/${namespace}`, { name });
    await ada.push(namespace, name, content);
    await ada.post(`/v1/${namespace}/${name}/releases`, [{ channel: 'stable', revision: 1 }]);
  }
  const place = folder(t);
  writeFileSync(join(place, 'passphrase'), `${passphrase}\n`, { mode: 0o600 });
  const line = `backup ${place}/backup.tar --include-keys --passphrase-file ${place}/passphrase`;
  t.match(await commandsOn(store.directory).larder(line), { code: 0 });
  keepOlderFiles(place, version, ['backup.tar', 'passphrase']);
}

if (process.env['LARDER_KEEP'] === '1') {
  const present = (JSON.parse(read('package.json')) as { version: string }).version;
  if (!listBackups().includes(`${present}.files.br`)) t.test('keep this release', (t) => keepBackup(t, present));
}

t.test('each release of the changelog has a backup among the fixtures', (t) => {
  t.ok(released.length > 0);
  for (const version of released) t.ok(listBackups().includes(`${version}.files.br`), version);
  t.end();
});

for (const version of released) {
  t.test(`a backup of release ${version} is restored, upgraded and complete`, async (t) => {
    const place = writeOlderFiles(folder(t), version);
    const store = commandsOn(join(place, 'store'));
    const restored = await larder(
      `restore ${place}/backup.tar --data ${store.data} --passphrase-file ${place}/passphrase`,
    );
    t.match(restored, { code: 0 }, restored.err);
    t.match(await store.larder('verify'), { code: 0 });
    t.match(await store.larder('audit verify'), { code: 0 });
    t.match(await store.json('status snap/tiny-app'), { channels: [{ channel: 'latest/stable', revision: 1 }] });
    t.match(await store.json('status charm/postgres'), { channels: [{ channel: 'latest/stable', revision: 1 }] });
    t.match(await store.larder(`backup ${place}/again.tar`), { code: 0 });
  });
}

t.test('a transfer that an earlier state made is received, previewed and accepted', async (t) => {
  const place = writeOlderFiles(folder(t), 'a1407c7');
  const receiver = await site(t, 'here');
  changeConfig(join(receiver.data, 'larder.toml'), { 'assertions.trusted': [join(place, 'roots.assert')] });
  const { keys } = JSON.parse(readFileSync(join(place, 'depot.json'), 'utf8')) as { keys: string[] };
  const digest = createHash('sha256').update(Buffer.from(keys[0]!, 'base64url')).digest('hex');
  const fingerprint = digest.slice(0, 32).replaceAll(/(.{4})(?!$)/g, '$1-');
  await receiver.done(`site trust ${place}/depot.json --fingerprint ${fingerprint}`);
  const received = (await receiver.done(`transfer receive ${place}/hello.transfer`)) as { id: string };
  await receiver.done(`transfer accept ${received.id} --yes`);
  t.match(await receiver.json('status snap/hello-on'), { channels: [{ channel: 'latest/stable', revision: 12 }] });
});

t.test('the version stands in one place, and the lock file of the packages repeats it', (t) => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const lock = JSON.parse(read('package-lock.json')) as { version: string; packages: Record<string, object> };
  t.equal(lock.version, version);
  t.match(lock.packages[''], { version });
  t.ok(released.includes(version) || version > released[0]!, 'it is a release of the changelog, or a later one');
  t.end();
});

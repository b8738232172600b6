// A store that serves devices and juju, and is taken over or asked at its own addresses.

import { startNow } from '#test/acts/ways.ts';
import { commandsOn, folder } from '#test/cli/process.ts';
import type { TestAppliance } from '#test/fixtures/appliance.ts';
import { charm } from '#test/fixtures/packages/archives.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { logIn, pushImage, uploadLogin } from '#test/fixtures/packages/images.ts';
import { servingCharms } from '#test/fixtures/clients/juju.ts';
import { download, offered, rootsFile } from '#test/fixtures/packages/online-store.ts';
import { withoutPrograms } from '#test/fixtures/programs.ts';

/** The value of tap's `skip`: the programs that the script of a request starts. */
export const fetchTools = withoutPrograms('curl', 'jq', 'openssl', 'skopeo');

const declares = 'resources:\n  image:\n    type: oci-image\n  site:\n    type: file\n    filename: site.tar\n';

interface Counts {
  snaps?: number;
  charms?: number;
}

type Test = Parameters<typeof startNow>[0];

/** A store with snaps that came from elsewhere, and charms with a file and an image each. */
export async function oldStore(t: Test, { snaps = 1, charms = 1 }: Counts = {}) {
  const port = await freePort();
  const roots = rootsFile(folder(t));
  const store = await startNow(t, (text) =>
    servingCharms(servingSnaps(text))
      .replace('127.0.0.1:0', `127.0.0.1:${port}`)
      .replaceAll(':8080', `:${port}`)
      .replace(/^# trusted = .*$/m, `trusted = ["${roots}"]`),
  );
  const { larder } = commandsOn(store.directory);
  const online = folder(t);
  await download(online, offered('hello-on', 12));
  for (let at = 1; at < snaps; at++) await download(online, offered(`snap-${String(at).padStart(3, '0')}`, at));
  const { code, err } = await larder(`package import ${online} --release stable --yes`);
  if (code !== 0) throw new Error(err);
  const passwords: string[] = [];
  for (let at = 0; at < charms; at++) passwords.push(await publish(store, at === 0 ? 'hello' : `hello-${String(at)}`));
  return { store, password: passwords[0] ?? '', passwords };
}

async function publish(store: TestAppliance, name: string): Promise<string> {
  const ada = await store.as('ada');
  await ada.post('/v1/charm', { name });
  await ada.push('charm', name, charm(name, {}, declares));
  const digest = await pushImage(
    await logIn(store, await uploadLogin(ada, name)),
    'latest',
    `layer of ${name}`,
    'another',
  );
  const { body: blob } = await ada.post(`/v1/charm/${name}/resources/image/oci-image/blob`, { 'image-digest': digest });
  for (const [resource, type, content] of [
    ['image', 'oci-image', JSON.stringify(blob)],
    ['site', 'file', 'a file beside it'],
  ] as const) {
    const upload = await ada.upload(content);
    await ada.post(`/v1/charm/${name}/resources/${resource}/revisions`, { 'upload-id': upload, type });
    await store.appliance.reviewed();
  }
  const resources = [
    { name: 'image', revision: 1 },
    { name: 'site', revision: 1 },
  ];
  await ada.post(`/v1/charm/${name}/releases`, [{ revision: 1, channel: 'latest/stable', resources }]);
  return blob.Password as string;
}

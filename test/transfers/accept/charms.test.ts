// Charms with their files and images in transfers: deployments get the same content as at the source, from the registry
// of this site.
import { createHash } from 'node:crypto';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { commandsOn, folder } from '#test/cli/process.ts';
import { startNow } from '#test/acts/ways.ts';
import { charm } from '#test/fixtures/packages/archives.ts';
import type { TestAppliance } from '#test/fixtures/appliance.ts';
import { logIn, pushImage, uploadLogin } from '#test/fixtures/packages/images.ts';

t.setTimeout(600_000);

/** A site that serves, with commands beside it. */
async function served(t: Test, name: string) {
  const store = await startNow(t);
  const commands = commandsOn(store.directory);
  await commands.json(`site init ${name}`);
  return { store, ...commands };
}

const declares = 'resources:\n  image:\n    type: oci-image\n  site:\n    type: file\n    filename: site.tar\n';

/** A charm with a file and an image, released at the depot. */
async function publish(store: TestAppliance): Promise<{ digest: string; password: string }> {
  const ada = await store.as('ada');
  await ada.post('/v1/charm', { name: 'hello' });
  await ada.push('charm', 'hello', charm('hello', {}, declares));
  const digest = await pushImage(await logIn(store, await uploadLogin(ada, 'hello')), 'latest', 'layer', 'another');
  const { body: blob } = await ada.post('/v1/charm/hello/resources/image/oci-image/blob', { 'image-digest': digest });
  for (const [resource, type, content] of [
    ['image', 'oci-image', JSON.stringify(blob)],
    ['site', 'file', 'a file beside it'],
  ] as const) {
    const upload = await ada.upload(content);
    await ada.post(`/v1/charm/hello/resources/${resource}/revisions`, { 'upload-id': upload, type });
    await store.appliance.reviewed();
  }
  const resources = [
    { name: 'image', revision: 1 },
    { name: 'site', revision: 1 },
  ];
  await ada.post('/v1/charm/hello/releases', [{ revision: 1, channel: 'latest/stable', resources }]);
  return { digest, password: blob.Password as string };
}

t.test('a charm comes with its file and its image, and no credential of the depot comes along', async (t) => {
  const [depot, receiver, stick] = [await served(t, 'depot'), await served(t, 'site-a'), folder(t)];
  const { digest, password } = await publish(depot.store);
  // The image of a resource is read beside the response.
  await depot.store.appliance.reviewed();
  const file = join(stick, 'in.tar');
  const made = await depot.json(`transfer make ${file}`);
  t.match(made, { packages: 1, revisions: 1 }, JSON.stringify(made));
  const { out } = await depot.larder(`transfer check ${file} --json`);
  t.notMatch(out, password);
  await depot.json(`site show --export ${stick}/depot.json`);
  const { site } = await depot.json('site show');
  await receiver.json(`site trust ${stick}/depot.json --fingerprint ${site.fingerprints[0]}`);
  t.match(await receiver.json(`transfer receive ${file}`), { lacking: [] });
  const seen = await receiver.json(`transfer preview ${made.id}`);
  t.match(seen.problems, [], JSON.stringify(seen.problems));
  t.match(
    seen.lines.map((line: { kind: string }) => line.kind),
    ['package', 'revision', 'resource', 'resource', 'image', 'release', 'release'],
  );
  t.match(await receiver.json(`transfer accept ${made.id} --yes`), { source: 'depot' });

  const hello = await receiver.store.beside.records.packages.find('charm', 'hello');
  const [held] = await receiver.store.beside.records.releases.held(hello?.id ?? '');
  t.match(held, { revision: 1, resources: [{ name: 'image' }, { name: 'site' }] });
  const image = await receiver.store.beside.records.resourceRevisions.find(hello?.id ?? '', 'image', 1);
  const ada = await receiver.store.as('ada');
  const { body: blob } = await ada.post('/v1/charm/hello/resources/image/oci-image/blob', { 'image-digest': digest });
  t.equal(
    createHash('sha3-384').update(JSON.stringify(blob)).digest('hex'),
    image?.sha3_384,
    'it says what it would say here',
  );
  const login = {
    image: blob.ImageName as string,
    username: blob.Username as string,
    password: blob.Password as string,
  };
  t.not(login.password, password);
  const deployment = await logIn(receiver.store, login, 'pull');
  const manifest = await deployment.call('GET', `manifests/${digest}`);
  t.match(manifest, { status: 200 });
  const { layers } = JSON.parse(manifest.text) as { layers: { digest: string }[] };
  for (const layer of layers) t.match(await deployment.call('GET', `blobs/${layer.digest}`), { status: 200 });
});

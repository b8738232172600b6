// The bill of materials of an image in its repository, and the claims that are attached to it.
import t from 'tap';

import { commandsOn } from '#test/cli/process.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { tar } from '#test/fixtures/packages/archives.ts';
import { cycloneDxFaults } from '#test/fixtures/packages/cyclonedx-schema.ts';
import {
  declare,
  descriptor,
  digestOf,
  logIn,
  mediaTypes,
  pushImage,
  uploadLogin,
  type RegistryClient,
} from '#test/fixtures/packages/images.ts';
import { billsJob } from '#test/jobs/vulnerabilities/bills-job.ts';

const layer = (name: string, content: string) => tar([{ name, content }]).toString();

/** Attaches a document to an image, as tools do. */
async function attach(client: RegistryClient, subject: string, document: unknown): Promise<void> {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  const config = '{}';
  for (const content of [config, text]) t.match(await client.blob(content), { status: 201 });
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: descriptor(config, 'application/vnd.oci.empty.v1+json'),
    layers: [descriptor(text, 'application/json')],
    subject: { mediaType: mediaTypes.manifest, digest: subject, size: 1 },
  });
  t.match(await client.manifest(digestOf(manifest), manifest), { status: 201 });
}

/** Pushes an attestation as BuildKit makes it: a manifest without a subject, for the index of the image. Returns its text. */
async function attest(client: RegistryClient, image: string, document: unknown): Promise<string> {
  const statement = JSON.stringify({
    predicateType: 'https://spdx.dev/Document',
    subject: [{ name: 'hello', digest: { sha256: image.slice('sha256:'.length) } }],
    predicate: document,
  });
  const config = JSON.stringify({ architecture: 'unknown', os: 'unknown' });
  for (const content of [config, statement]) t.match(await client.blob(content), { status: 201 });
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: descriptor(config, mediaTypes.config),
    layers: [descriptor(statement, 'application/vnd.in-toto+json')],
  });
  t.match(await client.manifest(digestOf(manifest), manifest), { status: 201 });
  return manifest;
}

t.test('an image has its bill, and the claims about it, once the job has read it', async (t) => {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const [ada, bob] = [await store.as('ada'), await store.as('bob')];
  const client = await logIn(store, await uploadLogin(ada, 'hello'));
  const image = await pushImage(
    client,
    'latest',
    layer('lib/apk/db/installed', 'P:musl\nV:1.2.4-r1\n'),
    layer('lib/apk/db/installed', 'P:musl\nV:1.2.4-r2\nA:x86_64\n'),
    layer('etc/os-release', 'ID=alpine\nVERSION_ID=3.19.1\n'),
  );
  const attestation = await attest(client, image, {
    spdxVersion: 'SPDX-2.3',
    packages: [{ externalRefs: [{ referenceType: 'purl', referenceLocator: 'pkg:pypi/attested@1.0' }] }],
  });
  const index = JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: [
      descriptor((await client.call('GET', `manifests/${image}`)).text, mediaTypes.manifest),
      descriptor(attestation, mediaTypes.manifest),
    ],
  });
  t.match(await client.manifest('all', index, mediaTypes.index), { status: 201 });
  const purl = 'pkg:npm/left-pad@1.3.0';
  const other = `sha256:${'0'.repeat(64)}`;
  await attach(client, image, { bomFormat: 'CycloneDX', components: [{ purl }, { purl: 'pkg:golang/x@1' }, 7] });
  await attach(client, image, {
    predicateType: 'https://spdx.dev/Document',
    predicate: {
      spdxVersion: 'SPDX-2.3',
      packages: [{ externalRefs: [{ referenceType: 'purl', referenceLocator: 'pkg:pypi/ops@2.1.0' }] }],
    },
  });
  await attach(client, image, {
    bomFormat: 'CycloneDX',
    metadata: { component: { purl: `pkg:oci/other@${other}` } },
    components: [{ purl: 'pkg:npm/of-another@1' }],
  });
  for (const none of ['{"signature": true}', 'text', '[]', `[${'[],'.repeat(600_000)}[]]`])
    await attach(client, image, none);

  const address = (digest: string) => `/internal/v1/packages/charm/hello/resources/image/images/${digest}/sbom`;
  const read = async (digest: string) => {
    const { status, body } = await ada.get(address(digest));
    t.equal(status, 200);
    const document = JSON.parse(body as string);
    t.same(cycloneDxFaults(document), []);
    return document;
  };
  t.match(await read(image), { components: [], compositions: [{ aggregate: 'unknown' }] }, 'it is not read yet');
  const job = await billsJob(t, store);
  t.match(await job.run(), { read: 10 }, 'an image, an index, an attestation and seven referrers');
  t.same(await job.run(), {});

  const document = await read(image);
  const claimed = { name: 'larder:claim' };
  t.same(
    document.components.map((component: { purl: string }) => component.purl).sort(),
    [
      'pkg:apk/alpine/musl@1.2.4-r2?arch=x86_64&distro=alpine-3.19.1',
      purl,
      'pkg:pypi/attested@1.0',
      'pkg:pypi/ops@2.1.0',
    ].sort(),
  );
  for (const component of document.components.slice(1)) t.match(component.properties, [claimed], component.purl);
  t.same(document.components[0].properties, undefined, 'what the store read itself is no claim');
  const gaps = (document.metadata.component.properties as { name: string; value: string }[])
    .filter(({ name }) => name === 'larder:gap')
    .map(({ value }) => value)
    .sort();
  t.match(gaps, [/describes another image/, /lists 2 entries without a package of dpkg/]);
  t.match(await read(digestOf(index)), { compositions: [{ aggregate: 'unknown' }] }, 'an index has none of its own');

  const { larder } = commandsOn(store.directory);
  t.same(JSON.parse((await larder(`package sbom charm/hello --image image@${image}`)).out), document);
  t.match(await larder(`package sbom charm/hello --image image@${other}`), { code: 1, err: /There is no image/ });
  for (const line of ['--image image', `1 --image image@${image}`])
    t.match(await larder(`package sbom charm/hello ${line}`), { code: 2 }, line);
  for (const digest of [other, 'latest', 'sha256:x']) t.equal((await ada.get(address(digest))).status, 404, digest);
  t.equal((await bob.get(address(image))).status, 404);
});

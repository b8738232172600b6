import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import {
  declare,
  descriptor,
  digestOf,
  imageOf,
  logIn,
  mediaTypes,
  pushImage,
  uploadLogin,
  type RegistryClient,
} from '#test/fixtures/packages/images.ts';

const empty = 'application/vnd.oci.empty.v1+json';
const subject = descriptor(imageOf('layer').manifest, mediaTypes.manifest);

/** A manifest that is about an image, such as a signature. */
const about = (members: object = {}): string =>
  JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    artifactType: 'application/x.signature',
    config: descriptor('{}', empty),
    layers: [],
    subject,
    ...members,
  });

async function adasClient(t: Parameters<typeof startStore>[0]): Promise<RegistryClient> {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const client = await logIn(store, await uploadLogin(await store.as('ada'), 'hello'));
  await client.blob('{}');
  return client;
}

const list = async (client: RegistryClient, query = '') => {
  const reply = await client.call('GET', `referrers/${subject.digest}${query}`);
  return { ...reply, ...(JSON.parse(reply.text) as { manifests: { digest: string; artifactType?: string }[] }) };
};

t.test('an artifact about an image is listed with it, even if it came before the image', async (t) => {
  const client = await adasClient(t);
  const none = await list(client);
  t.match(none, { status: 200, manifests: [] });
  t.equal(none.headers.get('content-type'), mediaTypes.index);
  t.match(JSON.parse(none.text), { schemaVersion: 2, mediaType: mediaTypes.index });

  const signature = about({ annotations: { by: 'ada' } });
  const put = await client.manifest(digestOf(signature), signature);
  t.equal(put.status, 201);
  t.equal(put.headers.get('oci-subject'), subject.digest);
  const parts = about({ artifactType: undefined, config: descriptor('{}', 'application/x.parts') });
  await client.manifest('parts', parts);
  const index = about({
    mediaType: mediaTypes.index,
    artifactType: undefined,
    config: undefined,
    layers: undefined,
    manifests: [],
  });
  t.equal((await client.manifest('index', index, mediaTypes.index)).headers.get('oci-subject'), subject.digest);
  await pushImage(client, 'latest', 'layer');
  t.notOk((await client.manifest('latest', imageOf('layer').manifest)).headers.get('oci-subject'));

  const { manifests } = await list(client);
  const byDigest = (digest: string) => manifests.find((manifest) => manifest.digest === digest);
  t.equal(manifests.length, 3);
  t.same(byDigest(digestOf(signature)), {
    ...descriptor(signature, mediaTypes.manifest),
    artifactType: 'application/x.signature',
    annotations: { by: 'ada' },
  });
  t.same(byDigest(digestOf(parts)), {
    ...descriptor(parts, mediaTypes.manifest),
    artifactType: 'application/x.parts',
  });
  t.same(byDigest(digestOf(index)), descriptor(index, mediaTypes.index), 'one without a type has none');

  const filtered = await list(client, '?artifactType=application/x.parts');
  t.same(
    filtered.manifests.map(({ digest }) => digest),
    [digestOf(parts)],
  );
  t.equal(filtered.headers.get('oci-filters-applied'), 'artifactType');
});

t.test('many are listed in pages', async (t) => {
  const client = await adasClient(t);
  const digests = new Set<string>();
  for (let count = 0; count < 101; count++) {
    const manifest = about({ annotations: { count: String(count) } });
    digests.add(digestOf(manifest));
    t.equal((await client.manifest(digestOf(manifest), manifest)).status, 201);
  }
  const type = '?artifactType=application/x.signature';
  const first = await list(client, type);
  t.equal(first.manifests.length, 100);
  const [, next = ''] =
    /^<\/v2\/.*\/referrers\/sha256:[0-9a-f]{64}(\?.*)>; rel="next"$/.exec(first.headers.get('link') ?? '') ?? [];
  const second = await list(client, next);
  t.equal(second.manifests.length, 1);
  t.notOk(second.headers.get('link'));
  t.same(new Set([...first.manifests, ...second.manifests].map(({ digest }) => digest)), digests);
});

t.test('an invalid digest, or an invalid or excessive annotation, is refused', async (t) => {
  const client = await adasClient(t);
  for (const wrong of ['latest', 'sha256:x', 'md5:abc']) {
    t.match(await client.call('GET', `referrers/${wrong}`), { status: 400, code: 'DIGEST_INVALID' }, wrong);
  }
  for (const members of [
    { subject: { ...subject, digest: 'sha512:x' } },
    { subject: {} },
    { subject: [] },
    { annotations: { a: 1 } },
    { annotations: { a: 'x'.repeat(64 * 1024) } },
    { artifactType: 1 },
  ]) {
    t.match(await client.manifest('x', about(members)), { status: 400, code: 'MANIFEST_INVALID' });
  }
});

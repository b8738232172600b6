import t from 'tap';

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
import { footprint } from '#test/fixtures/footprint.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';

async function adasClient(
  t: Parameters<typeof startStore>[0],
): Promise<{ store: TestAppliance; client: RegistryClient }> {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  return { store, client: await logIn(store, await uploadLogin(await store.as('ada'), 'hello')) };
}

t.test('a manifest is kept byte for byte with its media type, under its tag and its digest', async (t) => {
  const { client } = await adasClient(t);
  const { config, manifest } = imageOf('layer');
  for (const content of [config, 'layer']) await client.blob(content);
  for (const [type, spaced] of [
    [mediaTypes.manifest, `${manifest}\n`],
    [`${mediaTypes.manifest}; charset=utf-8`, `${manifest}\n\n`],
    [mediaTypes.dockerManifest, ` ${manifest.replace(mediaTypes.manifest, mediaTypes.dockerManifest)}`],
  ] as const) {
    const put = await client.manifest('v1', spaced, type);
    t.equal(put.status, 201);
    t.equal(put.headers.get('docker-content-digest'), digestOf(spaced));
    t.match(put.headers.get('location'), new RegExp(`/v2/${client.repository}/manifests/${digestOf(spaced)}$`));
    for (const reference of ['v1', digestOf(spaced)]) {
      const got = await client.call('GET', `manifests/${reference}`);
      t.match(got, { status: 200, text: spaced });
      t.equal(got.headers.get('content-type'), type.split(';')[0], 'without what a client has added');
      t.equal(got.headers.get('docker-content-digest'), digestOf(spaced));
      const head = await client.call('HEAD', `manifests/${reference}`);
      t.match(head, { status: 200, text: '' });
      t.equal(head.headers.get('content-length'), String(spaced.length));
    }
  }
  t.match(await client.manifest(digestOf(manifest), manifest), { status: 201 }, 'by its digest alone');
});

t.test('an index names existing manifests only', async (t) => {
  const { client } = await adasClient(t);
  const { manifest } = imageOf('one');
  const index = {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: [{ ...descriptor(manifest, mediaTypes.manifest), platform: { architecture: 'amd64', os: 'linux' } }],
  };
  t.match(await client.manifest('v1', index, mediaTypes.index), { status: 404, code: 'MANIFEST_BLOB_UNKNOWN' });
  await pushImage(client, digestOf(manifest), 'one');
  t.match(await client.manifest('v1', index, mediaTypes.index), { status: 201 });
  const list = { ...index, mediaType: mediaTypes.dockerList };
  t.match(await client.manifest('v2', list, mediaTypes.dockerList), { status: 201 });
  t.match(await client.manifest('v3', { ...index, manifests: [] }, mediaTypes.index), { status: 201 });
});

t.test('a manifest with missing parts, or parts of another size, is refused', async (t) => {
  const { store, client } = await adasClient(t);
  const { config, manifest } = imageOf('one', 'two');
  await client.blob(config);
  await client.blob('one');
  const before = footprint(store.directory);
  t.match(await client.manifest('v1', manifest), { status: 404, code: 'MANIFEST_BLOB_UNKNOWN' });
  const lying = JSON.parse(imageOf('one').manifest) as { config: object; layers: { size: number }[] };
  lying.config = descriptor(config, mediaTypes.config);
  lying.layers[0]!.size += 1;
  t.match(await client.manifest('v1', lying), { status: 400, code: 'MANIFEST_INVALID' });
  t.match(await client.manifest(digestOf('other'), manifest), { status: 400, code: 'DIGEST_INVALID' });
  t.same(footprint(store.directory), before);
  t.match(await client.call('GET', 'manifests/v1'), { status: 404, code: 'MANIFEST_UNKNOWN' });
});

t.test('a descriptor with a false size is refused, of a config, a layer or an image', async (t) => {
  const { store, client } = await adasClient(t);
  await pushImage(client, 'v1', 'layer');
  const { manifest } = imageOf('layer');
  const content = JSON.parse(manifest) as { config: { size: number }; layers: { size: number }[] };
  const index = {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: [descriptor(manifest, mediaTypes.manifest)],
  };
  const before = footprint(store.directory);
  for (const size of [0, 1, content.config.size + 1, Number.MAX_SAFE_INTEGER]) {
    const lies: [unknown, string][] = [
      [{ ...content, config: { ...content.config, size } }, mediaTypes.manifest],
      [{ ...content, layers: [{ ...content.layers[0], size }] }, mediaTypes.manifest],
      [{ ...index, manifests: [{ ...index.manifests[0], size }] }, mediaTypes.index],
    ];
    for (const [lie, type] of lies) {
      t.match(await client.manifest('v2', lie, type), { status: 400, code: 'MANIFEST_INVALID' }, String(size));
    }
  }
  t.same(footprint(store.directory), before);
});

t.test('an index may name indexes, and nothing that is no manifest of the repository', async (t) => {
  const { store, client } = await adasClient(t);
  await pushImage(client, 'v1', 'layer');
  const { manifest } = imageOf('layer');
  const indexOf = (content: string, type: string): string =>
    JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.index, manifests: [descriptor(content, type)] });
  const inner = indexOf(manifest, mediaTypes.manifest);
  const outer = indexOf(inner, mediaTypes.index);
  t.match(await client.manifest('outer', outer, mediaTypes.index), { status: 404, code: 'MANIFEST_BLOB_UNKNOWN' });
  t.match(await client.manifest(digestOf(inner), inner, mediaTypes.index), { status: 201 });
  t.match(await client.manifest('outer', outer, mediaTypes.index), { status: 201 });
  const before = footprint(store.directory);
  const layer = indexOf('layer', mediaTypes.manifest);
  t.match(await client.manifest('layer', layer, mediaTypes.index), { status: 404, code: 'MANIFEST_BLOB_UNKNOWN' });
  t.same(footprint(store.directory), before);
});

t.test('an invalid manifest is refused with a 4xx', async (t) => {
  const { store, client } = await adasClient(t);
  await pushImage(client, 'v1', 'layer');
  const { manifest } = imageOf('layer');
  const content = JSON.parse(manifest) as Record<string, unknown>;
  const before = footprint(store.directory);
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  for (const [label, body, type] of [
    ['nothing', '', mediaTypes.manifest],
    ['no JSON', '{', mediaTypes.manifest],
    ['text', '"text"', mediaTypes.manifest],
    ['null', 'null', mediaTypes.manifest],
    ['a list', '[]', mediaTypes.manifest],
    ['another version', JSON.stringify({ ...content, schemaVersion: 1 }), mediaTypes.manifest],
    ['another media type inside', manifest, mediaTypes.dockerManifest],
    ['an image as an index', JSON.stringify({ ...content, mediaType: undefined }), mediaTypes.index],
    ['an image that is an index too', JSON.stringify({ ...content, manifests: [] }), mediaTypes.manifest],
    ['a media type nobody knows', manifest, 'application/json'],
    ['no digest', JSON.stringify({ ...content, layers: [{ mediaType: 'x', size: 1 }] }), mediaTypes.manifest],
    [
      'a size below nothing',
      JSON.stringify({ ...content, layers: [{ mediaType: 'x', size: -1, digest: 'x' }] }),
      mediaTypes.manifest,
    ],
    ['deep JSON', deep, mediaTypes.manifest],
    [
      'deep inside',
      manifest.replace('{', `{"annotations":${'{"a":'.repeat(70)}1${'}'.repeat(70)},`),
      mediaTypes.manifest,
    ],
    ['a member twice', manifest.replace('{', '{"config":{},'), mediaTypes.manifest],
    ['NUL', manifest.replace('layer', 'l\\u0000'), mediaTypes.manifest],
    [
      'too many layers',
      JSON.stringify({ ...content, layers: Array.from({ length: 2001 }, () => descriptor('layer', 'x')) }),
      mediaTypes.manifest,
    ],
  ] as const) {
    t.match(await client.manifest('v2', body, type), { status: 400, code: 'MANIFEST_INVALID' }, label);
  }
  const latin = new Uint8Array([...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')]);
  t.match(await client.call('PUT', 'manifests/v2', latin, { 'content-type': mediaTypes.manifest }), {
    status: 400,
    code: 'MANIFEST_INVALID',
  });
  for (const tag of ['-x', 'x'.repeat(129), 'a:b', 'sha256:abc', '%C3%A4']) {
    t.match(await client.manifest(tag, manifest), { status: 400, code: 'MANIFEST_INVALID' }, tag);
    t.match(await client.call('GET', `manifests/${tag}`), { status: 404, code: 'MANIFEST_UNKNOWN' }, tag);
  }
  t.same(footprint(store.directory), before);
});

t.test('a manifest has at most 4 MiB', async (t) => {
  const { client } = await adasClient(t);
  await pushImage(client, 'v1', 'layer');
  const { manifest } = imageOf('layer');
  const padded = manifest.padEnd(4 * 1024 * 1024);
  t.match(await client.manifest('big', padded), { status: 201 });
  t.equal((await client.call('GET', 'manifests/big')).text, padded);
  t.match(await client.manifest('bigger', `${padded} `), { status: 413, code: 'SIZE_INVALID' });
  const streamed = await client.call('PUT', 'manifests/bigger', new Blob([`${padded} `]).stream(), {
    'content-type': mediaTypes.manifest,
  });
  t.match(streamed, { status: 413, code: 'SIZE_INVALID' });
});

t.test('tags are listed in order, in pages on request', async (t) => {
  const { client } = await adasClient(t);
  t.match(await client.call('GET', 'tags/list'), {
    status: 200,
    text: JSON.stringify({ name: client.repository, tags: [] }),
  });
  for (const tag of ['v2', 'latest', 'v10', 'V1']) await pushImage(client, tag, 'layer');
  const tags = async (query: string): Promise<string[]> =>
    (JSON.parse((await client.call('GET', `tags/list${query}`)).text) as { tags: string[] }).tags;
  t.same(await tags(''), ['V1', 'latest', 'v10', 'v2']);
  t.same(await tags('?n=2'), ['V1', 'latest']);
  t.same(await tags('?n=2&last=latest'), ['v10', 'v2']);
  t.same(await tags('?n=0'), []);
  t.equal(
    (await client.call('GET', 'tags/list?n=2')).headers.get('link'),
    `</v2/${client.repository}/tags/list?n=2&last=latest>; rel="next"`,
  );
  t.notOk((await client.call('GET', 'tags/list?n=4')).headers.get('link'));
  t.match(await client.call('GET', 'tags/list?n=x'), { status: 400 });
});

t.test('a tag moves, and its earlier image stays', async (t) => {
  const { client } = await adasClient(t);
  const first = await pushImage(client, 'latest', 'one');
  const second = await pushImage(client, 'latest', 'two');
  t.equal((await client.call('HEAD', 'manifests/latest')).headers.get('docker-content-digest'), second);
  t.match(await client.call('HEAD', `manifests/${first}`), { status: 200 });
});

t.test('a missing object is reported in the words of registries', async (t) => {
  const { client, store } = await adasClient(t);
  t.match(await client.call('GET', 'nonsense'), { status: 404, code: 'NAME_UNKNOWN' });
  const { status, body } = await store.anyone.get('/v2/images/x');
  t.match(
    { status, body },
    { status: 404, body: { errors: [{ code: 'NAME_UNKNOWN', message: String, detail: null }] } },
  );
});

t.test('a layer that registries do not give away need not be there, and everything else must', async (t) => {
  const { client } = await adasClient(t);
  const { config } = imageOf('layer');
  await client.blob(config);
  const elsewhere = { ...descriptor('elsewhere', mediaTypes.layer), urls: ['https://vendor.example/layer'] };
  const image = (layer: object): object => ({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: descriptor(config, mediaTypes.config),
    layers: [layer],
  });
  for (const type of [
    'application/vnd.oci.image.layer.nondistributable.v1.tar',
    'application/vnd.oci.image.layer.nondistributable.v1.tar+gzip',
    'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip',
  ]) {
    t.match(await client.manifest('v1', image(descriptor('elsewhere', type))), { status: 201 }, type);
  }
  t.match(await client.manifest('v2', image(elsewhere)), { status: 201 });
  t.match(await client.manifest('v3', image({ ...elsewhere, urls: [] })), {
    status: 404,
    code: 'MANIFEST_BLOB_UNKNOWN',
  });
  t.match(await client.manifest('v3', image({ ...elsewhere, urls: 'x' })), { status: 400, code: 'MANIFEST_INVALID' });
  const index = {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: [{ ...descriptor('elsewhere', mediaTypes.manifest), urls: ['https://vendor.example/manifest'] }],
  };
  t.match(await client.manifest('v4', index, mediaTypes.index), { status: 404, code: 'MANIFEST_BLOB_UNKNOWN' });
  await client.blob('elsewhere');
  t.match(await client.manifest('v5', image({ ...elsewhere, size: 1 })), { status: 400, code: 'MANIFEST_INVALID' });
});

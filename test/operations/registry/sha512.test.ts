// Content that clients name by its sha512.
import { createHash } from 'node:crypto';

import t from 'tap';

import { startStore } from '#test/fixtures/appliance.ts';
import { contentFiles } from '#test/fixtures/contents.ts';
import {
  declare,
  descriptor,
  digestOf,
  imageOf,
  logIn,
  mediaTypes,
  uploadLogin,
} from '#test/fixtures/packages/images.ts';

const sha512 = (content: string): string => `sha512:${createHash('sha512').update(content).digest('hex')}`;
const in512 = (content: string, mediaType: string) => ({ ...descriptor(content, mediaType), digest: sha512(content) });

async function adasClient(t: Parameters<typeof startStore>[0]) {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  return { store, ada, client: await logIn(store, await uploadLogin(ada, 'hello')) };
}

t.test('a blob is sent, found and fetched by its sha512, in one piece or in chunks', async (t) => {
  const { client } = await adasClient(t);
  const begin = async () => (await client.call('POST', 'blobs/uploads/')).headers.get('location') ?? '';
  const whole = await client.call('POST', `blobs/uploads/?digest=${sha512('whole')}`, 'whole');
  t.equal(whole.status, 201);
  t.equal(whole.headers.get('docker-content-digest'), sha512('whole'));
  const location = (await client.call('PATCH', await begin(), 'chunk one, ')).headers.get('location') ?? '';
  const last = await client.call('PUT', `${location}&digest=${sha512('chunk one, two')}`, 'two');
  t.equal(last.status, 201);
  for (const [content, at] of [
    ['whole', `blobs/${sha512('whole')}`],
    ['whole', `blobs/${digestOf('whole')}`],
    ['chunk one, two', last.headers.get('location') ?? ''],
  ] as const) {
    const got = await client.call('GET', at);
    t.match(got, { status: 200, text: content });
    t.ok(at.endsWith(got.headers.get('docker-content-digest') ?? '?'), 'it is called as it was asked for');
    t.equal((await client.call('HEAD', at)).status, 200);
  }
  t.equal((await client.call('POST', `blobs/uploads/?mount=${sha512('whole')}`)).status, 201, 'it is here already');
  const wrong = await client.call('PUT', `${await begin()}&digest=${sha512('other')}`, 'content');
  t.match(wrong, { status: 400, code: 'DIGEST_INVALID', text: new RegExp(sha512('content')) });
  t.match(await client.call('GET', `blobs/${sha512('content')}`), { status: 404, code: 'BLOB_UNKNOWN' });

  await client.blob('known');
  t.match(await client.call('HEAD', `blobs/${sha512('known')}`), { status: 404 }, 'nobody has named it so');
  t.equal((await client.call('POST', `blobs/uploads/?digest=${sha512('known')}`, 'known')).status, 201);
  await client.blob('known');
  t.equal((await client.call('GET', `blobs/${sha512('known')}`)).status, 200, 'and the name stays');
});

t.test('an image with its parts and itself named by sha512 is stored, listed, and deleted', async (t) => {
  const { store, ada, client } = await adasClient(t);
  const { config } = imageOf('layer');
  const files = contentFiles(store.directory).length;
  for (const content of [config, 'layer']) {
    t.equal((await client.call('POST', `blobs/uploads/?digest=${sha512(content)}`, content)).status, 201);
  }
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: in512(config, mediaTypes.config),
    layers: [in512('layer', mediaTypes.layer)],
  });
  t.match(await client.manifest(sha512('other'), manifest), { status: 400, code: 'DIGEST_INVALID' });
  const about = JSON.stringify({ ...JSON.parse(manifest), subject: in512(manifest, mediaTypes.manifest) });
  const early = await client.manifest(sha512(about), about);
  t.equal(early.headers.get('oci-subject'), sha512(manifest), 'what is about it may come before it');
  const put = await client.manifest(sha512(manifest), manifest);
  t.equal(put.status, 201);
  t.equal(put.headers.get('docker-content-digest'), sha512(manifest));
  t.match(await client.manifest('v1', manifest), { status: 201 });
  for (const reference of [sha512(manifest), digestOf(manifest), 'v1']) {
    t.match(await client.call('GET', `manifests/${reference}`), { status: 200, text: manifest });
    if (reference === 'v1') continue;
    const { text } = await client.call('GET', `referrers/${reference}`);
    t.match(JSON.parse(text), { manifests: [{ digest: sha512(about) }] }, reference.slice(0, 6));
  }
  t.equal(contentFiles(store.directory).length, files + 4, 'each content is there once');

  const index = JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: [in512(manifest, mediaTypes.manifest)],
  });
  t.equal((await client.manifest(sha512(index), index, mediaTypes.index)).status, 201);
  t.match(await client.call('DELETE', `manifests/${sha512(manifest)}`), { status: 405 }, 'the index names it');
  t.match(await client.call('DELETE', `blobs/${sha512('layer')}`), { status: 405 });
  const { status, body } = await ada.post('/v1/charm/hello/resources/image/oci-image/blob', {
    'image-digest': sha512(manifest),
  });
  t.equal(status, 200);
  t.ok(body.ImageName.endsWith(`@${digestOf(manifest)}`), 'deployments are told the name that every client knows');
  for (const content of [index, about, manifest]) {
    t.equal((await client.call('DELETE', `manifests/${sha512(content)}`)).status, 202);
  }
  t.equal((await client.call('DELETE', `blobs/${sha512('layer')}`)).status, 202);
});

// Tags, manifests and blobs: pushers delete them, and used ones stay.
import t from 'tap';

import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import {
  declare,
  descriptor,
  digestOf,
  fetchToken,
  imageOf,
  logIn,
  mediaTypes,
  pushImage,
  repositoryOf,
  uploadLogin,
  withToken,
  type RegistryClient,
} from '#test/fixtures/packages/images.ts';

async function adasClient(
  t: Parameters<typeof startStore>[0],
): Promise<{ store: TestAppliance; ada: Client; client: RegistryClient }> {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  return { store, ada, client: await logIn(store, await uploadLogin(ada, 'hello')) };
}

const unsupported = (message: RegExp) => ({ status: 405, code: 'UNSUPPORTED', text: message });

t.test('a tag goes alone, a manifest with all its tags, and then its blobs', async (t) => {
  const { store, client } = await adasClient(t);
  const digest = await pushImage(client, 'v1', 'layer');
  await pushImage(client, 'v2', 'layer');
  t.match(await client.call('DELETE', 'manifests/v1'), { status: 202, text: '' });
  t.match(await client.call('GET', 'manifests/v1'), { status: 404 });
  t.match(await client.call('GET', `manifests/${digest}`), { status: 200 });
  t.match(await client.call('DELETE', 'manifests/v1'), { status: 404, code: 'MANIFEST_UNKNOWN' });
  const blob = `blobs/${digestOf('layer')}`;
  t.match(await client.call('DELETE', blob), unsupported(new RegExp(`The image ${digest} uses this blob`)));
  t.match(await client.call('DELETE', `manifests/${digest}`), { status: 202 });
  t.match(await client.call('GET', 'manifests/v2'), { status: 404 });
  t.match(await client.call('GET', `manifests/${digest}`), { status: 404 });
  t.match(await client.call('GET', 'tags/list'), { text: /"tags":\[\]/ });
  t.match(await client.call('DELETE', blob), { status: 202 });
  t.match(await client.call('GET', blob), { status: 404, code: 'BLOB_UNKNOWN' });
  t.match(await client.call('DELETE', blob), { status: 404, code: 'BLOB_UNKNOWN' });
  t.match(await client.call('DELETE', `manifests/${digest}`), { status: 404, code: 'MANIFEST_UNKNOWN' });
  t.match(await client.call('DELETE', 'blobs/sha256:short'), { status: 400, code: 'DIGEST_INVALID' });
  const log = await store.beside.records.audit.list(0, 100);
  t.match(
    log
      .filter(({ action }) => action.startsWith('delete_image'))
      .map(({ action, actor }) => [action, actor])
      .sort(),
    [
      ['delete_image_blob', store.ids.ada],
      ['delete_image_manifest', store.ids.ada],
      ['delete_image_tag', store.ids.ada],
    ],
  );
});

t.test('an image of a resource stays, from the moment of its push', async (t) => {
  const { store, ada, client } = await adasClient(t);
  const { manifest } = imageOf('layer');
  const image = await pushImage(client, 'v1', 'layer');
  const index = {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: [descriptor(manifest, mediaTypes.manifest)],
  };
  const digest = digestOf(JSON.stringify(index));
  await client.manifest('all', index, mediaTypes.index);
  const { body } = await ada.post('/v1/charm/hello/resources/image/oci-image/blob', { 'image-digest': digest });
  const upload = await ada.upload(JSON.stringify(body));
  const pushed = await ada.post('/v1/charm/hello/resources/image/revisions', {
    'upload-id': upload,
    type: 'oci-image',
  });
  t.equal(pushed.status, 200);
  for (const reference of [digest, image]) {
    t.match(
      await client.call('DELETE', `manifests/${reference}`),
      unsupported(/A revision of the resource names this image/),
    );
  }
  for (const content of ['layer', imageOf('layer').config]) {
    t.match(await client.call('DELETE', `blobs/${digestOf(content)}`), unsupported(/uses this blob/));
  }
  await store.appliance.reviewed();
  t.match(
    await client.call('DELETE', `manifests/${digest}`),
    unsupported(/A revision of the resource names this image/),
  );
  t.match(await client.call('DELETE', 'manifests/all'), { status: 202 }, 'its tag may go: the resource names no tag');
  t.match(await client.call('GET', `manifests/${digest}`), { status: 200 });
});

t.test('manifests of an index stay until the index is deleted', async (t) => {
  const { client } = await adasClient(t);
  const image = await pushImage(client, 'v1', 'layer');
  const { manifest } = imageOf('layer');
  const index = {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: [descriptor(manifest, mediaTypes.manifest)],
  };
  const digest = digestOf(JSON.stringify(index));
  await client.manifest('all', index, mediaTypes.index);
  await client.manifest('none', { ...index, manifests: [] }, mediaTypes.index);
  t.match(
    await client.call('DELETE', `manifests/${image}`),
    unsupported(new RegExp(`The index ${digest} names this manifest`)),
  );
  t.match(await client.call('DELETE', `manifests/${digest}`), { status: 202 });
  t.match(await client.call('DELETE', `manifests/${image}`), { status: 202 });
  t.match(
    await client.call('DELETE', `manifests/${digestOf(JSON.stringify({ ...index, manifests: [] }))}`),
    { status: 202 },
    'an index of nothing is in the way of none',
  );
});

t.test('only accounts with the push permission may delete, with any word of their client for it', async (t) => {
  const { store, ada, client } = await adasClient(t);
  await pushImage(client, 'v1', 'layer');
  const login = await uploadLogin(ada, 'hello');
  const puller = await logIn(store, login, 'pull');
  for (const path of ['manifests/v1', `manifests/${digestOf('x')}`, `blobs/${digestOf('layer')}`]) {
    t.match(await puller.call('DELETE', path), { status: 401, code: 'UNAUTHORIZED' }, path);
  }
  const repository = repositoryOf(login);
  for (const actions of ['delete', '*']) {
    const { text } = await fetchToken(store, login, `repository:${repository}:${actions}`);
    const { token } = JSON.parse(text) as { token: string };
    t.match(await withToken(store, repository, token).call('DELETE', 'manifests/v9'), { status: 404 }, actions);
  }
});

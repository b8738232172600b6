import { join } from 'node:path';

import t from 'tap';

import { itself } from '#acts/act.ts';
import { deleteImageManifest } from '#acts/images/images.ts';
import { sweepImages } from '#acts/images/unneeded-images.ts';
import type { DiskBlobs } from '#blobs/disk.ts';
import { after, days, hours, minutes, timestamp } from '#domain/clock.ts';
import { forgetImages as forgetImagesJob } from '#jobs/images/forget-images.ts';
import { sweepBlobs } from '#jobs/store/sweep-blobs.ts';
import { blobsBeside, clockWhenOld, contentFiles, removeContent } from '#test/fixtures/contents.ts';
import { startStore, type Client, type TestAppliance } from '#test/fixtures/appliance.ts';
import {
  declare,
  descriptor,
  digestOf,
  imageOf,
  logIn,
  mediaTypes,
  pushImage,
  remove,
  uploadLogin,
  type RegistryClient,
} from '#test/fixtures/packages/images.ts';

interface Site {
  store: TestAppliance;
  ada: Client;
  blobs: DiskBlobs;
  /** A client of ada's charm `hello`, logged in now. */
  client(): Promise<RegistryClient>;
  /** The rows that the job forgets now. */
  forget(): Promise<Record<string, unknown>>;
  has(...digests: string[]): Promise<boolean[]>;
}

async function site(t: Parameters<typeof startStore>[0]): Promise<Site> {
  const store = await startStore(t);
  await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  const blobs = await blobsBeside(t, store);
  const client = async (): Promise<RegistryClient> => logIn(store, await uploadLogin(ada, 'hello'));
  return {
    store,
    ada,
    blobs,
    client,
    forget: () => forgetImagesJob(store.beside.records, store.beside.acts, blobs, () => store.clock.now).run(),
    async has(...digests) {
      const reader = await client();
      const results: boolean[] = [];
      for (const digest of digests) results.push((await reader.call('HEAD', `manifests/${digest}`)).status === 200);
      return results;
    },
  };
}

const address = '/v1/charm/hello/resources/image';

/** Uploads what deployments need of an image as the resource; the upload's status url. */
async function publish({ store, ada }: Site, digest: string): Promise<string> {
  const { body } = await ada.post(`${address}/oci-image/blob`, { 'image-digest': digest });
  const upload = await ada.upload(JSON.stringify(body));
  const pushed = await ada.post(`${address}/revisions`, { 'upload-id': upload, type: 'oci-image' });
  await store.appliance.reviewed();
  return pushed.body['status-url'] as string;
}

/** Sweeps when all content is old. */
async function sweep({ store, blobs }: Site): Promise<void> {
  await sweepBlobs(store.beside.records, blobs, clockWhenOld(store)).run();
}

t.test('a blob that joined no image within a day is forgotten and swept, and blobs of images stay', async (t) => {
  const testSite = await site(t);
  const client = await testSite.client();
  const digest = await pushImage(client, 'latest', 'layer');
  t.match(await client.blob('loose'), { status: 201 });

  testSite.store.clock.advance(minutes(4));
  t.same(await testSite.forget(), { manifests: 0, blobs: 0, unreadable: 0 });
  t.match(await client.call('HEAD', `blobs/${digestOf('loose')}`), { status: 200 }, 'a day has not gone by');
  testSite.store.clock.advance(hours(24));
  t.same(await testSite.forget(), { manifests: 0, blobs: 1, unreadable: 0 });

  const before = contentFiles(testSite.store.directory).length;
  await sweep(testSite);
  t.equal(contentFiles(testSite.store.directory).length, before - 1);
  const again = await testSite.client();
  t.match(await again.call('GET', `manifests/${digest}`), { status: 200 });
  t.match(await again.call('GET', `blobs/${digestOf('layer')}`), { status: 200, text: 'layer' });
  t.match(await again.call('GET', `blobs/${digestOf('loose')}`), { status: 404, code: 'BLOB_UNKNOWN' });
});

t.test(
  'an image that lost its tag and that no resource names goes after thirty days, with what only it had',
  async (t) => {
    const testSite = await site(t);
    const first = await pushImage(await testSite.client(), 'latest', 'shared', 'first');
    testSite.store.clock.advance(days(100));
    t.match(await testSite.forget(), { manifests: 0 }, 'a tag keeps it, however old it is');
    const second = await pushImage(await testSite.client(), 'latest', 'shared', 'second');
    testSite.store.clock.advance(days(30));
    t.match(await testSite.forget(), { manifests: 0 }, 'it lost its tag thirty days ago');
    testSite.store.clock.advance(1);
    t.match(await testSite.forget(), { manifests: 1, unreadable: 0 });
    t.same(await testSite.has(first, second, 'latest'), [false, true, true]);
    await sweep(testSite);
    const client = await testSite.client();
    t.match(await client.call('GET', `blobs/${digestOf('first')}`), { status: 404 });
    t.match(await client.call('GET', `blobs/${digestOf('shared')}`), { status: 200, text: 'shared' });
    t.equal(contentFiles(testSite.store.directory).length, 4, 'a config, two layers and a manifest');
    t.match(
      (await testSite.store.beside.records.audit.list(0, 1000)).find(({ action }) => action === 'sweep_images'),
      { actor: 'larder' },
    );
  },
);

t.test('an image of a resource stays, released or not, and an index with all its images', async (t) => {
  const testSite = await site(t);
  const client = await testSite.client();
  const children = [imageOf('one'), imageOf('two')];
  for (const layer of ['one', 'two']) await pushImage(client, digestOf(imageOf(layer).manifest), layer);
  const index = JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: children.map(({ manifest }) => descriptor(manifest, mediaTypes.manifest)),
  });
  t.match(await client.manifest('latest', index, mediaTypes.index), { status: 201 });
  await publish(testSite, digestOf(index));
  const other = await pushImage(client, 'latest', 'three');
  const lost = await pushImage(client, digestOf(imageOf('four').manifest), 'four');
  testSite.store.clock.advance(days(300));
  t.match(await testSite.forget(), { manifests: 1 });
  const retained = [digestOf(index), ...children.map(({ manifest }) => digestOf(manifest)), other];
  t.same(await testSite.has(...retained, lost), [true, true, true, true, false]);
  await sweep(testSite);
  const reader = await testSite.client();
  for (const layer of ['one', 'two', 'three']) {
    t.match(await reader.call('GET', `blobs/${digestOf(layer)}`), { status: 200, text: layer });
  }
});

t.test('an upload in manual review keeps its image too, and a rejected one does not', async (t) => {
  const testSite = await site(t);
  const { store, ada } = testSite;
  const entry = { at: store.clock.now.toISOString(), actor: 'test', action: 'by hand', object: 'charm/hello' };
  const id = (await ada.get('/v1/charm/hello')).body.metadata.id as string;
  await store.beside.records.change(entry, (tx) => tx.packages.reviewByHand(id, true));
  const digest = await pushImage(await testSite.client(), 'latest', 'one');
  const status = await publish(testSite, digest);
  t.match(await ada.get(status), { body: { revisions: [{ status: 'scanned' }] } });
  await pushImage(await testSite.client(), 'latest', 'two');
  store.clock.advance(days(90));
  t.match(await testSite.forget(), { manifests: 0 });
  t.same(await testSite.has(digest), [true]);
  await store.beside.records.change(entry, (tx) =>
    tx.uploads.reject(new URL(status, store.url).searchParams.get('upload-id') ?? '', [
      { code: 'review-error', message: 'No.' },
    ]),
  );
  t.match(await testSite.forget(), { manifests: 1 });
  t.same(await testSite.has(digest), [false]);
});

t.test('asking for what deployments need, and pushing again, makes an image wait longer', async (t) => {
  const testSite = await site(t);
  const layers = ['asked', 'pushed', 'neither'];
  const [requested = '', pushed = '', neither = ''] = layers.map((layer) => digestOf(imageOf(layer).manifest));
  const push = async (layer: string): Promise<string> =>
    pushImage(await testSite.client(), digestOf(imageOf(layer).manifest), layer);
  for (const layer of layers) await push(layer);
  testSite.store.clock.advance(days(20));
  t.match(await testSite.ada.post(`${address}/oci-image/blob`, { 'image-digest': requested }), { status: 200 });
  await push('pushed');
  testSite.store.clock.advance(days(20));
  t.match(await testSite.forget(), { manifests: 1 });
  t.same(await testSite.has(requested, pushed, neither), [true, true, false]);
});

t.test('while the content of a resource cannot be read, no image is forgotten', async (t) => {
  const testSite = await site(t);
  const digest = await pushImage(await testSite.client(), 'latest', 'one');
  await publish(testSite, digest);
  await pushImage(await testSite.client(), 'latest', 'two');
  const id = (await testSite.ada.get('/v1/charm/hello')).body.metadata.id as string;
  const [revision] = await testSite.store.beside.records.resourceRevisions.list(id, 'image');
  const { sha3_384 = '' } = revision ?? {};
  removeContent(testSite.store.directory, sha3_384);
  testSite.store.clock.advance(days(31));
  t.match(await testSite.forget(), { manifests: 0, unreadable: 1 });
  t.same(await testSite.has(digest), [true]);

  const { acts, records } = testSite.store.beside;
  const everything = { before: timestamp(after(testSite.store.clock.now, days(1))), maxManifests: 100 };
  t.equal(await acts.do(sweepImages, itself, everything), 0, 'nor by whoever has not looked');
  const push = await uploadLogin(testSite.ada, 'hello');
  const credential = (await records.imageCredentials.byId(push.username))!;
  const sha256 = digest.replace('sha256:', '');
  await t.rejects(acts.do(deleteImageManifest, itself, { credential, sha256 }), { message: /^The store cannot tell/ });
  t.same(await testSite.has(digest), [true]);
});

t.test('an index from before its images were noted is read first', async (t) => {
  const testSite = await site(t);
  const client = await testSite.client();
  const { manifest } = imageOf('one');
  await pushImage(client, digestOf(manifest), 'one');
  const index = JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: [descriptor(manifest, mediaTypes.manifest)],
  });
  await client.manifest('latest', index, mediaTypes.index);
  await client.manifest('empty', { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [] }, mediaTypes.index);
  const { default: SQLite } = await import('better-sqlite3');
  const db = new SQLite(join(testSite.store.directory, 'larder.db'));
  db.exec('DELETE FROM image_children');
  db.close();
  testSite.store.clock.advance(days(31));
  t.match(await testSite.forget(), { manifests: 0, unreadable: 0 });
  t.same(await testSite.has(digestOf(manifest)), [true]);
  t.equal((await testSite.store.beside.records.images.unreadIndexes(10)).length, 0);
});

t.test('artifacts about an image stay as long as the image, and go with it', async (t) => {
  const testSite = await site(t);
  const client = await testSite.client();
  const image = imageOf('one').manifest;
  await pushImage(client, 'latest', 'one');
  await client.blob('{}');
  const signature = JSON.stringify({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    artifactType: 'application/x.signature',
    config: descriptor('{}', 'application/vnd.oci.empty.v1+json'),
    layers: [],
    subject: descriptor(image, mediaTypes.manifest),
  });
  t.match(await client.manifest(digestOf(signature), signature), { status: 201 });
  testSite.store.clock.advance(days(60));
  t.match(await testSite.forget(), { manifests: 0 });
  t.same(await testSite.has(digestOf(signature)), [true]);
  await pushImage(await testSite.client(), 'latest', 'two');
  testSite.store.clock.advance(days(31));
  t.match(await testSite.forget(), { manifests: 2 });
  t.same(await testSite.has(digestOf(image), digestOf(signature)), [false, false]);
});

t.test('blobs of a deleted package are swept', async (t) => {
  const store = await startStore(t);
  const id = await declare(store, 'ada', 'hello');
  const ada = await store.as('ada');
  await pushImage(await logIn(store, await uploadLogin(ada, 'hello')), 'latest', 'layer');
  await remove(store, id);
  for (const file of contentFiles(store.directory)) t.notOk(await store.beside.records.neededContents.has(file));
});

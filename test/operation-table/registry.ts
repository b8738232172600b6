// Rows of the operations about registry.
import { digestOf, imageOf } from '#test/fixtures/packages/images.ts';
import { basic, bearer } from './reads.ts';
import type { OperationRows } from './row.ts';
import { each, makeRepository, once } from './writes.ts';

/** The contents of these images do not exist, so a verification of the store would report them. */
const killedElsewhere = 'pushes are killed in test/journeys/image-crash.long.test.ts';

export const registryRows: OperationRows = {
  list_pull_credentials: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/pull-credentials' }],
  },
  end_pull_credential: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: 'two at once in test/operations/registry/pull-credentials.test.ts',
  },
  registry_version: {
    about: 'public',
    callers: 'other credentials',
    reads: (_world, { token }) => [{ path: '/v2/', headers: bearer(token) }],
  },
  registry_token: {
    about: 'public',
    callers: 'anyone',
    reads: ({ ids, login }) => [
      { path: `/registry/token?service=larder&scope=repository:images/${ids.charm}/image:pull`, headers: basic(login) },
    ],
  },
  registry_events: {
    about: 'public',
    callers: 'other credentials',
    writes: 'told twice, one after the other, in test/operations/registry/events.test.ts',
  },
  start_blob_upload: {
    about: 'public',
    callers: 'other credentials',
    writes: 'not tried: an upload that is begun twice is two uploads, which pass',
  },
  blob_upload_state: {
    about: 'public',
    callers: 'other credentials',
    reads: ({ ids }, { token, upload }) => [
      { path: `/v2/images/${ids.charm}/image/blobs/uploads/${upload}`, status: 204, headers: bearer(token) },
    ],
  },
  continue_blob_upload: {
    about: 'public',
    callers: 'other credentials',
    writes: 'not tried: of an upload under way only rows that pass are written',
  },
  finish_blob_upload: {
    about: 'public',
    callers: 'other credentials',
    writes: once(async (world, n) => {
      const { client, headers } = await makeRepository(world, n, 'blob');
      const begun = await client.call('POST', 'blobs/uploads/');
      const { pathname, search } = new URL(begun.headers.get('location')!, 'http://store');
      return {
        method: 'PUT',
        path: `${pathname}${search}&digest=${digestOf(`layer ${n}`)}`,
        headers,
        body: `layer ${n}`,
      };
    }, killedElsewhere),
  },
  cancel_blob_upload: {
    about: 'public',
    callers: 'other credentials',
    writes: 'not tried: of an upload under way only rows that pass are written',
  },
  image_blob: {
    about: 'public',
    callers: 'other credentials',
    reads: ({ ids, image }, { token }) => [
      { path: `/v2/images/${ids.charm}/image/blobs/${image.blob}`, headers: bearer(token) },
    ],
  },
  image_manifest: {
    about: 'public',
    callers: 'other credentials',
    reads: ({ ids }, { token }) => [{ path: `/v2/images/${ids.charm}/image/manifests/latest`, headers: bearer(token) }],
  },
  put_image_manifest: {
    about: 'public',
    callers: 'other credentials',
    writes: each(async (world, n) => {
      const { client, headers, at } = await makeRepository(world, n, 'pushed');
      const { config, manifest } = imageOf(`layer ${n}`);
      for (const content of [config, `layer ${n}`]) await client.blob(content);
      const type = (JSON.parse(manifest) as { mediaType: string }).mediaType;
      return {
        method: 'PUT',
        path: `${at}/manifests/latest`,
        headers: { ...headers, 'content-type': type },
        body: manifest,
      };
    }, killedElsewhere),
  },
  delete_image_manifest: {
    about: 'public',
    callers: 'other credentials',
    writes: once(async (world, n) => {
      const { client, headers, at } = await makeRepository(world, n, 'untagged');
      const { config, manifest } = imageOf(`layer ${n}`);
      for (const content of [config, `layer ${n}`]) await client.blob(content);
      await client.manifest('latest', manifest);
      return { method: 'DELETE', path: `${at}/manifests/latest`, headers };
    }, killedElsewhere),
  },
  delete_image_blob: {
    about: 'public',
    callers: 'other credentials',
    writes: once(async (world, n) => {
      const { client, headers, at } = await makeRepository(world, n, 'unlayered');
      await client.blob(`layer ${n}`);
      return { method: 'DELETE', path: `${at}/blobs/${digestOf(`layer ${n}`)}`, headers };
    }, killedElsewhere),
  },
  list_image_tags: {
    about: 'public',
    callers: 'other credentials',
    reads: ({ ids }, { token }) => [{ path: `/v2/images/${ids.charm}/image/tags/list`, headers: bearer(token) }],
  },
  list_image_referrers: {
    about: 'public',
    callers: 'other credentials',
    reads: ({ ids, image }, { token }) => [
      { path: `/v2/images/${ids.charm}/image/referrers/${image.manifest}`, headers: bearer(token) },
    ],
  },
};

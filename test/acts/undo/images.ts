// Undoing what was pushed to a registry of images: a tag, a manifest, a blob.
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
} from '#test/fixtures/images.ts';
import type { UndoRow, World } from './world.ts';

/** The clients of the repositories, by case. */
const clients = new Map<string, RegistryClient>();
const clientOf = ({ name }: World): RegistryClient => clients.get(name)!;

/** A charm of the name of the case, with a repository for its image. */
async function begin({ store, name, ada }: World): Promise<RegistryClient> {
  await declare(store, 'ada', name);
  const client = await logIn(store, await uploadLogin(ada, name));
  clients.set(name, client);
  return client;
}

const layerOf = ({ name }: World): string => `layer of ${name}`;
const digestOfImage = (world: World): string => digestOf(imageOf(layerOf(world)).manifest);
const push = (world: World, reference: string, layer = layerOf(world)) => pushImage(clientOf(world), reference, layer);
const drop = async (world: World, path: string): Promise<number> => {
  const { status } = await clientOf(world).call('DELETE', path);
  return status === 202 ? 200 : status;
};
const there = async (world: World, path: string): Promise<boolean> =>
  (await clientOf(world).call('GET', path)).status === 200;
const isShown = (world: World, ...references: string[]): Promise<boolean[]> =>
  Promise.all(references.map((one) => there(world, `manifests/${one}`)));

async function pushIndex(world: World): Promise<void> {
  const { manifest } = imageOf(layerOf(world));
  const platform = { architecture: 'amd64', os: 'linux' };
  const manifests = [{ ...descriptor(manifest, mediaTypes.manifest), platform }];
  const index = { schemaVersion: 2, mediaType: mediaTypes.index, manifests };
  const { status, text } = await clientOf(world).manifest('all', index, mediaTypes.index);
  if (status !== 201) throw new Error(`cannot push the index: ${String(status)} ${text}`);
}

async function beginWithImage(world: World): Promise<void> {
  await begin(world);
  await push(world, 'v1');
}

export const imageRows: Readonly<Record<string, UndoRow>> = {
  delete_image_tag: {
    done: beginWithImage,
    undone: (world) => drop(world, 'manifests/v1'),
    cases: [
      { between: 'nothing', after: (world) => isShown(world, 'v1', digestOfImage(world)), equals: [false, true] },
      {
        between: 'the image got another tag',
        event: (world) => push(world, 'v2'),
        ...{ after: (world) => isShown(world, 'v1', 'v2'), equals: [false, true] },
      },
      {
        between: 'the tag was moved to another image',
        event: (world) => push(world, 'v1', 'another layer'),
        after: (world) => isShown(world, 'v1', digestOfImage(world), digestOf(imageOf('another layer').manifest)),
        equals: [false, true, true],
      },
      {
        between: 'the tag was deleted already',
        event: (world) => drop(world, 'manifests/v1'),
        ...{ status: 404, after: (world) => isShown(world, 'v1', digestOfImage(world)), equals: [false, true] },
      },
      {
        between: 'the image was deleted',
        event: (world) => drop(world, `manifests/${digestOfImage(world)}`),
        ...{ status: 404, after: (world) => isShown(world, 'v1', digestOfImage(world)), equals: [false, false] },
      },
      {
        between: 'an index was pushed that names the image',
        event: pushIndex,
        ...{ after: (world) => isShown(world, 'v1', 'all', digestOfImage(world)), equals: [false, true, true] },
      },
    ],
  },
  delete_image_manifest: {
    done: beginWithImage,
    undone: (world) => drop(world, `manifests/${digestOfImage(world)}`),
    cases: [
      { between: 'nothing', after: (world) => isShown(world, 'v1', digestOfImage(world)), equals: [false, false] },
      {
        between: 'the image got another tag',
        event: (world) => push(world, 'v2'),
        ...{ after: (world) => isShown(world, 'v1', 'v2'), equals: [false, false] },
      },
      {
        between: 'the tag was moved to another image',
        event: (world) => push(world, 'v1', 'another layer'),
        ...{ after: (world) => isShown(world, 'v1', digestOfImage(world)), equals: [true, false] },
      },
      {
        between: 'an index was pushed that names the image',
        event: pushIndex,
        ...{ status: 405, after: (world) => isShown(world, 'v1', 'all'), equals: [true, true] },
      },
      {
        between: 'an index that named the image was deleted',
        async event(world) {
          await pushIndex(world);
          const index = (await clientOf(world).call('GET', 'manifests/all')).headers.get('docker-content-digest');
          await drop(world, `manifests/${index ?? ''}`);
        },
        ...{ after: (world) => isShown(world, 'v1', digestOfImage(world)), equals: [false, false] },
      },
      {
        between: 'it was deleted already',
        event: (world) => drop(world, `manifests/${digestOfImage(world)}`),
        ...{ status: 404, after: (world) => isShown(world, 'v1'), equals: [false] },
      },
      {
        between: 'nothing, and the image is pushed again',
        async after(world) {
          await push(world, 'v1');
          return isShown(world, 'v1', digestOfImage(world));
        },
        equals: [true, true],
      },
    ],
  },
  delete_image_blob: {
    async done(world) {
      await (await begin(world)).blob(layerOf(world));
    },
    undone: (world) => drop(world, `blobs/${digestOf(layerOf(world))}`),
    cases: [
      { between: 'nothing', after: (world) => there(world, `blobs/${digestOf(layerOf(world))}`), equals: false },
      {
        between: 'an image was pushed that is made of it',
        event: (world) => push(world, 'v1'),
        status: 405,
        after: async (world) => [
          await there(world, `blobs/${digestOf(layerOf(world))}`),
          ...(await isShown(world, 'v1')),
        ],
        equals: [true, true],
      },
      {
        between: 'the image that was made of it was deleted',
        async event(world) {
          await push(world, 'v1');
          await drop(world, `manifests/${digestOfImage(world)}`);
        },
        ...{ after: (world) => there(world, `blobs/${digestOf(layerOf(world))}`), equals: false },
      },
      {
        between: 'it was pushed again',
        event: (world) => clientOf(world).blob(layerOf(world)),
        ...{ after: (world) => there(world, `blobs/${digestOf(layerOf(world))}`), equals: false },
      },
      {
        between: 'it was deleted already',
        event: (world) => drop(world, `blobs/${digestOf(layerOf(world))}`),
        ...{ status: 404, after: (world) => there(world, `blobs/${digestOf(layerOf(world))}`), equals: false },
      },
      {
        between: 'nothing, and an image that is made of it is pushed',
        async after(world) {
          await push(world, 'v1');
          return isShown(world, 'v1');
        },
        equals: [true],
      },
    ],
  },
};

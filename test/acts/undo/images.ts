// Undoing acts of an image registry: a tag, a manifest, a blob.
import { itself } from '#acts/act.ts';
import { sweepImages } from '#acts/images/unneeded-images.ts';
import { after as later, days, timestamp } from '#domain/clock.ts';
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
  type Login,
  type RegistryClient,
} from '#test/fixtures/packages/images.ts';
import { status, statusOf, type UndoRow, type World } from './world.ts';

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
const isPresent = async (world: World, path: string): Promise<boolean> =>
  (await clientOf(world).call('GET', path)).status === 200;
const isShown = (world: World, ...references: string[]): Promise<boolean[]> =>
  Promise.all(references.map((reference) => isPresent(world, `manifests/${reference}`)));

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

/** Pushes an image that loses its tag to another one, and lets so much time pass that it can be forgotten. */
async function beginUntagged(world: World): Promise<void> {
  await beginWithImage(world);
  await push(world, 'v1', 'another layer');
  world.store.clock.advance(days(31));
  await logInAgain(world);
}

/** Logs in again: credentials to push end after some hours. */
async function logInAgain({ store, name }: World): Promise<void> {
  clients.set(name, await logIn(store, await uploadLogin(await store.as('ada'), name)));
}

const forget = ({ store }: World) => {
  const before = timestamp(later(store.clock.now, -days(30)));
  return store.beside.acts.do(sweepImages, itself, { before, maxManifests: 100 });
};
const imageAt = ({ name }: World): string => `/v1/charm/${name}/resources/image`;

/** Requests the credentials that deployments need to pull the image of the case. */
async function handOut(world: World): Promise<Login> {
  const ada = await world.store.as('ada');
  const { body } = await ada.post(`${imageAt(world)}/oci-image/blob`, { 'image-digest': digestOfImage(world) });
  return { image: body.ImageName, username: body.Username, password: body.Password };
}

/** Publishes the image of the case as a revision of its resource. */
async function publish(world: World): Promise<void> {
  const ada = await world.store.as('ada');
  const { body } = await ada.post(`${imageAt(world)}/oci-image/blob`, { 'image-digest': digestOfImage(world) });
  const upload = await ada.upload(JSON.stringify(body));
  await ada.post(`${imageAt(world)}/revisions`, { 'upload-id': upload, type: 'oci-image' });
  await world.store.appliance.reviewed();
}

/** The credentials to pull, by case and name. */
const logins = new Map<string, Login>();
const loginOf = ({ name }: World, key: string): Login => logins.get(`${name} ${key}`)!;
const keepLogin = async (world: World, key: string) => logins.set(`${world.name} ${key}`, await handOut(world));
const pulls = async (world: World, key: string): Promise<boolean> => {
  const login = loginOf(world, key);
  return (await fetchToken(world.store, login, `repository:${repositoryOf(login)}:pull`)).status === 200;
};
const endLogin = (world: World, overlap?: number) =>
  world.root.post(`/internal/v1/pull-credentials/${loginOf(world, 'first').username}/end`, { overlap });

const pullRows: Readonly<Record<string, UndoRow>> = {
  end_pull_credential: {
    async done(world) {
      await beginWithImage(world);
      await keepLogin(world, 'first');
    },
    undone: (world) => status(endLogin(world)),
    cases: [
      { between: 'nothing', after: (world) => pulls(world, 'first'), equals: false },
      {
        between: 'they were to end later, and others were given in their place',
        async event(world) {
          await endLogin(world, 7200);
          await keepLogin(world, 'second');
        },
        after: async (world) => [await pulls(world, 'first'), await pulls(world, 'second')],
        equals: [false, true],
      },
      {
        between: 'they ended already',
        event: (world) => endLogin(world),
        status: 409,
        after: (world) => pulls(world, 'first'),
        equals: false,
      },
      {
        between: 'the charm got another publisher',
        event: ({ root, store, name }) =>
          root.post(`/internal/v1/packages/charm/${name}/publisher`, { 'account-id': store.ids.bob }),
        after: (world) => pulls(world, 'first'),
        equals: false,
      },
      {
        between: 'nothing, and others are asked for twice',
        async after(world) {
          await keepLogin(world, 'second');
          await keepLogin(world, 'third');
          const isSame = loginOf(world, 'second').username === loginOf(world, 'third').username;
          return [await pulls(world, 'first'), await pulls(world, 'second'), isSame];
        },
        equals: [false, true, true],
      },
    ],
  },
  sweep_images: {
    done: beginUntagged,
    undone: (world) => statusOf(forget(world)),
    cases: [
      { between: 'nothing', after: (world) => isShown(world, digestOfImage(world), 'v1'), equals: [false, true] },
      {
        between: 'it got a tag again',
        event: (world) => push(world, 'v2'),
        after: (world) => isShown(world, digestOfImage(world), 'v1'),
        equals: [true, true],
      },
      {
        between: 'it was pushed again without a tag',
        event: (world) => push(world, digestOfImage(world)),
        after: (world) => isShown(world, digestOfImage(world)),
        equals: [true],
      },
      {
        between: 'an index was pushed that names it',
        event: pushIndex,
        after: (world) => isShown(world, 'all', digestOfImage(world)),
        equals: [true, true],
      },
      {
        between: 'ada asked for what deployments need to pull it',
        event: (world) => handOut(world),
        after: (world) => isShown(world, digestOfImage(world)),
        equals: [true],
      },
      {
        between: 'it was deleted',
        event: (world) => drop(world, `manifests/${digestOfImage(world)}`),
        after: (world) => isShown(world, digestOfImage(world), 'v1'),
        equals: [false, true],
      },
      {
        between: 'it was forgotten and pushed again',
        async event(world) {
          await forget(world);
          await push(world, digestOfImage(world));
        },
        after: (world) => isShown(world, digestOfImage(world)),
        equals: [true],
      },
      {
        between: 'nothing, and it is pushed again with a tag',
        async after(world) {
          await push(world, 'v2');
          return isShown(world, digestOfImage(world), 'v2', 'v1');
        },
        equals: [true, true, true],
      },
      {
        between: 'it became a revision of its resource',
        event: publish,
        after: (world) => isShown(world, digestOfImage(world)),
        equals: [true],
      },
    ],
  },
};

export const imageRows: Readonly<Record<string, UndoRow>> = {
  ...pullRows,
  delete_image_tag: {
    done: beginWithImage,
    undone: (world) => drop(world, 'manifests/v1'),
    cases: [
      { between: 'nothing', after: (world) => isShown(world, 'v1', digestOfImage(world)), equals: [false, true] },
      {
        between: 'the image got another tag',
        event: (world) => push(world, 'v2'),
        after: (world) => isShown(world, 'v1', 'v2'),
        equals: [false, true],
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
        status: 404,
        after: (world) => isShown(world, 'v1', digestOfImage(world)),
        equals: [false, true],
      },
      {
        between: 'the image was deleted',
        event: (world) => drop(world, `manifests/${digestOfImage(world)}`),
        status: 404,
        after: (world) => isShown(world, 'v1', digestOfImage(world)),
        equals: [false, false],
      },
      {
        between: 'an index was pushed that names the image',
        event: pushIndex,
        after: (world) => isShown(world, 'v1', 'all', digestOfImage(world)),
        equals: [false, true, true],
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
        after: (world) => isShown(world, 'v1', 'v2'),
        equals: [false, false],
      },
      {
        between: 'the tag was moved to another image',
        event: (world) => push(world, 'v1', 'another layer'),
        after: (world) => isShown(world, 'v1', digestOfImage(world)),
        equals: [true, false],
      },
      {
        between: 'an index was pushed that names the image',
        event: pushIndex,
        status: 405,
        after: (world) => isShown(world, 'v1', 'all'),
        equals: [true, true],
      },
      {
        between: 'an index that named the image was deleted',
        async event(world) {
          await pushIndex(world);
          const index = (await clientOf(world).call('GET', 'manifests/all')).headers.get('docker-content-digest');
          await drop(world, `manifests/${index ?? ''}`);
        },
        after: (world) => isShown(world, 'v1', digestOfImage(world)),
        equals: [false, false],
      },
      {
        between: 'it was deleted already',
        event: (world) => drop(world, `manifests/${digestOfImage(world)}`),
        status: 404,
        after: (world) => isShown(world, 'v1'),
        equals: [false],
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
      { between: 'nothing', after: (world) => isPresent(world, `blobs/${digestOf(layerOf(world))}`), equals: false },
      {
        between: 'an image was pushed that is made of it',
        event: (world) => push(world, 'v1'),
        status: 405,
        after: async (world) => [
          await isPresent(world, `blobs/${digestOf(layerOf(world))}`),
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
        after: (world) => isPresent(world, `blobs/${digestOf(layerOf(world))}`),
        equals: false,
      },
      {
        between: 'it was pushed again',
        event: (world) => clientOf(world).blob(layerOf(world)),
        after: (world) => isPresent(world, `blobs/${digestOf(layerOf(world))}`),
        equals: false,
      },
      {
        between: 'it was deleted already',
        event: (world) => drop(world, `blobs/${digestOf(layerOf(world))}`),
        status: 404,
        after: (world) => isPresent(world, `blobs/${digestOf(layerOf(world))}`),
        equals: false,
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

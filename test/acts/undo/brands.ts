// Undoing acts of a brand: its models, serial policies and remodels. Each case has a model of its own.
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { status, type UndoRow, type World } from './world.ts';

/** The key of ada's brand in a store; a store can be given each throw-away key once. */
const keys = new WeakMap<World['store'], Promise<string>>();

async function begin(world: World): Promise<void> {
  const { store, ada, name } = world;
  if (!keys.has(store)) {
    await addBrand(store, 'ada');
    keys.set(store, addSigningKey(store, store.ids.ada, 'rsa4096-a', 'serials'));
  }
  for (const model of [name, `${name}-to`]) {
    const answer = await ada.post(`${brandAt(world)}/model`, { name: model, series: '16' });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  }
}

const brandAt = ({ store }: World): string => `/v1/brand/${store.ids.ada}`;
const modelAt = (world: World): string => `${brandAt(world)}/model/${world.name}`;
const deleteModel = (world: World) => world.ada.delete(modelAt(world));
const addPolicy = async (world: World) =>
  world.ada.post(`${modelAt(world)}/serial_policy`, { 'signing-key-sha3-384': await keys.get(world.store)! });
const deletePolicy = (world: World, revision = 1) =>
  world.ada.delete(`${modelAt(world)}/serial_policy/${String(revision)}`);
const policies = async (world: World): Promise<number[]> =>
  ((await world.ada.get(`${modelAt(world)}/serial_policy`)).body as { revision: number }[]).map(
    ({ revision }) => revision,
  );
const isModel = async (world: World): Promise<boolean> => {
  const { body } = await world.ada.get(`${brandAt(world)}/model`);
  return (body as { name: string }[]).some(({ name }) => name === world.name);
};
const remodel = ({ name }: World, serial: string | null = null) => ({
  'from-model': name,
  'from-serial': serial,
  'to-model': `${name}-to`,
});
const allow = (world: World, serial?: string) =>
  world.ada.post(`${brandAt(world)}/remodel-allowlist`, {
    allowlist: [{ ...remodel(world, serial), description: null }],
  });
const disallow = (world: World, serial?: string) =>
  world.ada.post(`${brandAt(world)}/remodel-allowlist/delete`, { allowlist: [remodel(world, serial)] });
const allowed = async (world: World): Promise<(string | null)[]> => {
  const { body } = await world.ada.get(`${brandAt(world)}/remodel-allowlist`);
  const all = body.allowlist as { 'from-model': string; 'from-serial': string | null }[];
  return all.filter((entry) => entry['from-model'] === world.name).map((entry) => entry['from-serial']);
};

const asBrand = ({ store }: World) => addBrand(store, 'ada', ['bob']);
const deleteBrand = (world: World) => world.ada.delete(brandAt(world));
const addKey = ({ store }: World, vector = 'rsa4096-b') => addSigningKey(store, store.ids.ada, vector, 'default');
const deleteKey = async (world: World, key = world.notes['key']!) =>
  world.ada.delete(`${brandAt(world)}/signing_key/${key}`);
const addModel = (world: World) => world.ada.post(`${brandAt(world)}/model`, { name: world.name, series: '16' });

/** Whether ada and bob, another administrator, see the brand. */
const isSeen = async (world: World): Promise<boolean[]> =>
  [await world.ada.get(brandAt(world)), await world.bob.get(brandAt(world))].map(({ status }) => status === 200);

/** The same, and deletes the brand with the objects of a case. */
async function isSeenStill(world: World): Promise<boolean[]> {
  const seen = await isSeen(world);
  await deleteModel(world);
  if (world.notes['key'] !== undefined) await deleteKey(world);
  await deleteBrand(world);
  return seen;
}

/** The names of the keys that the brand has, and the status of a request that the key of the case signs. */
async function keysLeft(world: World): Promise<unknown[]> {
  const keys = `${brandAt(world)}/signing_key`;
  const names = ((await world.ada.get(keys)).body as { name: string }[]).map(({ name }) => name);
  return [names, await status(signRequest(world))];
}
const signRequest = (world: World) =>
  world.ada.post(`${brandAt(world)}/signing_key/${world.notes['key']!}/account-key-request`, {});

async function addPolicyOfKey(world: World): Promise<void> {
  await addModel(world);
  await world.ada.post(`${modelAt(world)}/serial_policy`, { 'signing-key-sha3-384': world.notes['key'] });
}

/** The same, and deletes the key that is left. */
async function keysLeftThen(world: World, clear: () => Promise<unknown>): Promise<unknown[]> {
  const left = await keysLeft(world);
  await clear();
  return left;
}

const brandAndKeyRows: Readonly<Record<string, UndoRow>> = {
  delete_brand: {
    done: asBrand,
    undone: (world) => status(deleteBrand(world)),
    cases: [
      { between: 'nothing', after: isSeen, equals: [false, false] },
      {
        between: 'it got another name',
        event: (world) => world.bob.patch(brandAt(world), { name: 'Pumps' }),
        after: isSeen,
        equals: [false, false],
      },
      { between: 'it got a model', event: addModel, status: 409, after: isSeenStill, equals: [true, true] },
      {
        between: 'it got a signing key',
        event: async (world) => (world.notes['key'] = await addKey(world)),
        status: 409,
        after: isSeenStill,
        equals: [true, true],
      },
      {
        between: 'its model and its key were deleted',
        async event(world) {
          await addModel(world);
          await deleteModel(world);
          await deleteKey(world, await addKey(world));
        },
        after: isSeen,
        equals: [false, false],
      },
      { between: 'it was deleted already', event: deleteBrand, status: 404, after: isSeen, equals: [false, false] },
      {
        between: 'it was deleted, and the account became a brand again',
        async event(world) {
          await deleteBrand(world);
          await addBrand(world.store, 'ada');
        },
        after: isSeen,
        equals: [false, false],
      },
      {
        between: 'nothing, and the account becomes a brand again',
        async after(world) {
          await addBrand(world.store, 'ada');
          return isSeenStill(world);
        },
        // Its former administrators are none of the new one.
        equals: [true, false],
      },
    ],
  },
  delete_signing_key: {
    async done(world) {
      await asBrand(world);
      world.notes['key'] = await addKey(world);
    },
    undone: (world) => status(deleteKey(world)),
    cases: [
      { between: 'nothing', after: keysLeft, equals: [[], 404] },
      { between: 'it signed', event: signRequest, after: keysLeft, equals: [[], 404] },
      {
        between: 'a serial policy was made that uses it',
        event: addPolicyOfKey,
        status: 409,
        after: (world) =>
          keysLeftThen(world, async () => {
            await deletePolicy(world);
            await deleteKey(world);
          }),
        equals: [['default'], 200],
      },
      {
        between: 'the serial policy that used it was deleted',
        async event(world) {
          await addPolicyOfKey(world);
          await deletePolicy(world);
        },
        after: keysLeft,
        equals: [[], 404],
      },
      {
        between: 'it was deleted already',
        event: (world) => deleteKey(world),
        status: 404,
        after: keysLeft,
        equals: [[], 404],
      },
      {
        between: 'it was deleted, and another key got its name',
        async event(world) {
          await deleteKey(world);
          world.notes['other'] = await addKey(world, 'rsa4096-a');
        },
        status: 404,
        after: (world) => keysLeftThen(world, () => deleteKey(world, world.notes['other'])),
        equals: [['default'], 404],
      },
      {
        between: 'nothing, and the same key is taken in again',
        async after(world) {
          await addKey(world);
          return keysLeftThen(world, () => deleteKey(world));
        },
        equals: [['default'], 200],
      },
    ],
  },
};

export const brandRows: Readonly<Record<string, UndoRow>> = {
  ...brandAndKeyRows,
  delete_model: {
    done: begin,
    undone: (world) => status(deleteModel(world)),
    cases: [
      { between: 'nothing', after: isModel, equals: false },
      {
        between: 'the model was changed',
        event: (world) => world.ada.patch(modelAt(world), { 'api-key': 'x'.repeat(20) }),
        after: isModel,
        equals: false,
      },
      { between: 'it got a serial policy', event: addPolicy, status: 409, after: policies, equals: [1] },
      {
        between: 'its serial policy was deleted',
        async event(world) {
          await addPolicy(world);
          await deletePolicy(world);
        },
        after: isModel,
        equals: false,
      },
      {
        between: 'the remodel allowlist named it',
        event: (world) => allow(world),
        status: 409,
        after: allowed,
        equals: [null],
      },
      { between: 'it was deleted already', event: deleteModel, status: 404, after: isModel, equals: false },
      {
        between: 'nothing, and a model of its name is made',
        async after(world) {
          await world.ada.post(`${brandAt(world)}/model`, { name: world.name, series: '16' });
          return [await isModel(world), await policies(world), await allowed(world)];
        },
        equals: [true, [], []],
      },
    ],
  },
  delete_serial_policy: {
    async done(world) {
      await begin(world);
      await addPolicy(world);
    },
    undone: (world) => status(deletePolicy(world)),
    cases: [
      { between: 'nothing', after: policies, equals: [] },
      { between: 'a newer policy was made', event: addPolicy, after: policies, equals: [2] },
      {
        between: 'it was deleted already',
        event: (world) => deletePolicy(world),
        status: 404,
        after: policies,
        equals: [],
      },
      {
        between: 'it was deleted and made again',
        async event(world) {
          await deletePolicy(world);
          await addPolicy(world);
        },
        status: 404,
        after: policies,
        equals: [2],
      },
      {
        between: 'the model was deleted',
        async event(world) {
          await deletePolicy(world);
          await deleteModel(world);
        },
        status: 404,
        after: isModel,
        equals: false,
      },
    ],
  },
  delete_remodel_allowlist: {
    async done(world) {
      await begin(world);
      await allow(world);
    },
    undone: (world) => status(disallow(world)),
    cases: [
      { between: 'nothing', after: allowed, equals: [] },
      {
        between: 'one device was allowed by its serial',
        event: (world) => allow(world, '0001'),
        after: allowed,
        equals: ['0001'],
      },
      {
        between: 'it was described',
        event: (world) =>
          world.ada.patch(`${brandAt(world)}/remodel-allowlist`, {
            allowlist: [{ ...remodel(world), description: 'All of them.' }],
          }),
        after: allowed,
        equals: [],
      },
      {
        between: 'it was deleted already',
        event: (world) => disallow(world),
        status: 404,
        after: allowed,
        equals: [],
      },
      {
        between: 'it was deleted and allowed again',
        async event(world) {
          await disallow(world);
          await allow(world);
        },
        after: allowed,
        equals: [],
      },
    ],
  },
};

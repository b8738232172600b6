// Undoing acts of the requests of a site, and of its trusted sources.
import { itself } from '#acts/act.ts';
import { distrustSource, settleFloor, trustSource } from '#acts/sites/sites.ts';
import { subscribe, unsubscribe } from '#acts/sites/subscriptions.ts';
import { statusOf, type UndoRow, type World } from './world.ts';

/** Keys of sources; only their texts matter here. */
const keys = { first: 'a'.repeat(43), second: 'b'.repeat(43) } as const;

export const siteRows: Readonly<Record<string, UndoRow>> = {
  distrust_source: {
    done: (world) => trust(world, 'first'),
    undone: (world) => statusOf(distrust(world)),
    cases: [
      { between: 'nothing', after: sources, equals: [] },
      {
        between: 'it was trusted with another key and scope',
        event: (world) => trust(world, 'second', ['charm/*']),
        after: sources,
        equals: [],
      },
      {
        between: 'another source was trusted',
        event: (world) => trust({ ...world, name: `${world.name}-other` }, 'second'),
        after: sources,
        equals: [['other', 'second', '*/*', 'certain']],
      },
      { between: 'it was distrusted already', event: distrust, status: 404, after: sources, equals: [] },
      {
        between: 'it was distrusted, and trusted with another key',
        async event(world) {
          await distrust(world);
          await trust(world, 'second');
        },
        after: sources,
        equals: [],
      },
      {
        between: 'nothing, and it is trusted again',
        async after(world) {
          await trust(world, 'second');
          return sources(world);
        },
        equals: [['', 'second', '*/*', 'certain']],
      },
      {
        between: 'the store was restored, and it is trusted again',
        event: doubtFloor,
        async after(world) {
          await trust(world, 'second');
          return sources(world);
        },
        equals: [['', 'second', '*/*', 'in doubt']],
      },
      {
        between: 'the store was restored and the doubt settled, and it is trusted again',
        async event(world) {
          await doubtFloor(world);
          await distrust(world);
          await trust(world, 'first');
          await world.store.beside.acts.do(settleFloor, itself, { name: world.name, proven: 7 });
        },
        async after(world) {
          await trust(world, 'second');
          return sources(world);
        },
        equals: [['', 'second', '*/*', 'certain']],
      },
    ],
  },
  unsubscribe: {
    done: (world) => wish(world, 'snap', ['latest/stable']),
    undone: ({ store, name }) => statusOf(store.beside.acts.do(unsubscribe, itself, { namespace: 'snap', name })),
    cases: [
      { between: 'nothing', after: wishes, equals: {} },
      {
        between: 'another channel was added',
        event: (world) => wish(world, 'snap', ['latest/edge']),
        after: wishes,
        equals: {},
      },
      {
        between: 'a charm of the same name was subscribed to',
        event: (world) => wish(world, 'charm', ['latest/edge']),
        after: wishes,
        equals: { charm: ['latest/edge'] },
      },
      {
        between: 'the subscription ended already',
        event: ({ store, name }) => store.beside.acts.do(unsubscribe, itself, { namespace: 'snap', name }),
        status: 404,
        after: wishes,
        equals: {},
      },
      {
        between: 'nothing, and it begins again with another channel',
        async after(world) {
          await wish(world, 'snap', ['latest/edge']);
          return wishes(world);
        },
        equals: { snap: ['latest/edge'] },
      },
    ],
  },
};

function wish({ store, name }: World, namespace: 'snap' | 'charm', channels: string[]) {
  const subscription = { namespace, name, channels, architectures: ['amd64'] } as const;
  return store.beside.acts.do(subscribe, itself, { subscriptions: [subscription], because: null });
}

async function wishes({ store, name }: World): Promise<Record<string, readonly string[]>> {
  const channelsByNamespace: Record<string, readonly string[]> = {};
  for (const namespace of ['snap', 'charm'] as const) {
    const subscription = await store.beside.records.subscriptions.find(namespace, name);
    if (subscription !== undefined) channelsByNamespace[namespace] = subscription.channels;
  }
  return channelsByNamespace;
}

function trust({ store, name }: World, key: keyof typeof keys, packages = ['*/*']) {
  const source = { name, keys: [keys[key]], threshold: 1, packages, mayRelease: true };
  return store.beside.acts.do(trustSource, itself, source);
}

function distrust({ store, name }: World) {
  return store.beside.acts.do(distrustSource, itself, { name });
}

/** Marks the last accepted transfer of the source as doubtful, as a restore does for each source. */
function doubtFloor({ store, name }: World) {
  const entry = { at: store.clock.now.toISOString(), actor: 'test', action: 'restore_store', object: 'appliance' };
  return store.beside.records.change(entry, (tx) => tx.transferSources.doubtFloor(name));
}

/** The sources of this case: the suffix of the name, key, scope, and whether the floor is certain. */
async function sources({ store, name }: World): Promise<unknown[]> {
  const all = await store.beside.records.transferSources.list();
  return all
    .filter((source) => source.name.startsWith(name))
    .map((source) => [
      source.name.slice(name.length + 1),
      Object.entries(keys).find(([, key]) => key === source.keys.join())?.[0],
      source.packages.join(),
      source.floorInDoubt ? 'in doubt' : 'certain',
    ]);
}

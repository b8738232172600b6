// Undoing what a site asks of others.
import { itself } from '#acts/act.ts';
import { subscribe, unsubscribe } from '#acts/subscriptions.ts';
import { statusOf, type UndoRow, type World } from './world.ts';

export const siteRows: Readonly<Record<string, UndoRow>> = {
  unsubscribe: {
    done: (world) => wish(world, 'snap', ['latest/stable']),
    undone: ({ store, name }) => statusOf(store.beside.acts.do(unsubscribe, itself, { namespace: 'snap', name })),
    cases: [
      { between: 'nothing', after: wishes, equals: {} },
      {
        between: 'another channel was added',
        event: (world) => wish(world, 'snap', ['latest/edge']),
        ...{ after: wishes, equals: {} },
      },
      {
        between: 'a charm of the same name was subscribed to',
        event: (world) => wish(world, 'charm', ['latest/edge']),
        ...{ after: wishes, equals: { charm: ['latest/edge'] } },
      },
      {
        between: 'the subscription ended already',
        event: ({ store, name }) => store.beside.acts.do(unsubscribe, itself, { namespace: 'snap', name }),
        ...{ status: 404, after: wishes, equals: {} },
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
  const one = { namespace, name, channels, architectures: ['amd64'] } as const;
  return store.beside.acts.do(subscribe, itself, { wishes: [one], because: null });
}

async function wishes({ store, name }: World): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {};
  for (const namespace of ['snap', 'charm'] as const) {
    const one = await store.beside.records.subscriptions.find(namespace, name);
    if (one !== undefined) found[namespace] = one.channels;
  }
  return found;
}

// Undoing acts of revisions and their releases.
import { days } from '#domain/clock.ts';
import { handOver, held, release, status, type UndoRow, type World } from './world.ts';
import type { Client } from '#test/fixtures/appliance.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

const withdraw = (client: Client, { at }: World, revision: number, reason = 'It loses data.') =>
  client.post(`${at}/revisions/${String(revision)}/withdraw`, { reason });
const restore = (client: Client, { at }: World, revision: number) =>
  client.post(`${at}/revisions/${String(revision)}/restore`, {});
const askToDeleteFirst = ({ root, at }: World) => root.post(`${at}/revisions/delete`, { keep: 1, revisions: [1] });
/** Deletes the revision 1, which no channel holds; the newest stays. */
const deleteFirst = async (world: World) => {
  const answer = await askToDeleteFirst(world);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
};
const isWithdrawn = async ({ store, id }: World, revision: number) =>
  (await store.beside.records.revisions.find(id, revision))?.withdrawnBecause ?? null;

export const revisionRows: Readonly<Record<string, UndoRow>> = {
  withdraw_revision: {
    done: (world) => release(world.ada, world, 'latest/stable', 1),
    undone: (world) => status(withdraw(world.ada, world, 1)),
    cases: [
      { between: 'nothing', after: held, equals: {} },
      {
        between: 'the revision was released to another channel too',
        event: (world) => release(world.ada, world, 'latest/edge', 1),
        after: held,
        equals: {},
      },
      {
        between: 'the channel got another revision',
        event: (world) => release(world.ada, world, 'latest/stable', 2),
        after: held,
        equals: { 'latest/stable': 2 },
      },
      {
        between: 'the channel was closed',
        event: (world) => release(world.ada, world, 'latest/stable', null),
        after: held,
        equals: {},
      },
      {
        between: 'the revision was withdrawn for another reason',
        event: (world) => withdraw(world.ada, world, 1, 'It was first.'),
        status: 409,
        after: (world) => isWithdrawn(world, 1),
        equals: 'It was first.',
      },
      {
        between: 'the package got another publisher',
        event: handOver,
        status: 404,
        after: held,
        equals: { 'latest/stable': 1 },
      },
    ],
  },
  restore_revision: {
    async done(world) {
      await release(world.ada, world, 'latest/stable', 1);
      await withdraw(world.ada, world, 1);
    },
    undone: (world) => status(restore(world.ada, world, 1)),
    cases: [
      {
        between: 'nothing',
        after: async (world) => [await held(world), await isWithdrawn(world, 1)],
        equals: [{}, null],
      },
      {
        between: 'another revision was released to its channel',
        event: (world) => release(world.ada, world, 'latest/stable', 2),
        after: held,
        equals: { 'latest/stable': 2 },
      },
      {
        between: 'another revision was withdrawn',
        event: (world) => withdraw(world.ada, world, 2, 'The second.'),
        after: (world) => isWithdrawn(world, 2),
        equals: 'The second.',
      },
      {
        between: 'the revision was deleted',
        event: deleteFirst,
        status: 404,
        after: async (world) => (await release(world.ada, world, 'latest/stable', 1)).status >= 400,
        equals: true,
      },
      {
        between: 'the channel was filled and closed again',
        async event(world) {
          await release(world.ada, world, 'latest/stable', 2);
          await release(world.ada, world, 'latest/stable', null);
        },
        after: held,
        equals: {},
      },
      {
        between: 'the package got another publisher',
        event: handOver,
        status: 404,
        after: async (world) => [await isWithdrawn(world, 1), await status(restore(world.bob, world, 1))],
        equals: ['It loses data.', 200],
      },
      {
        between: 'it was restored already',
        event: (world) => restore(world.ada, world, 1),
        status: 409,
        after: (world) => isWithdrawn(world, 1),
        equals: null,
      },
    ],
  },
  'close, then release again': {
    async done(world) {
      await release(world.ada, world, 'latest/stable', 1);
      await release(world.ada, world, 'latest/stable', null);
    },
    undone: (world) => status(release(world.ada, world, 'latest/stable', 1)),
    cases: [
      { between: 'nothing', after: held, equals: { 'latest/stable': 1 } },
      {
        between: 'the revision was withdrawn',
        event: (world) => withdraw(world.ada, world, 1),
        status: 400,
        after: held,
        equals: {},
      },
      { between: 'the revision was deleted', event: deleteFirst, status: 400, after: held, equals: {} },
      {
        between: 'the channel got another revision',
        event: (world) => release(world.ada, world, 'latest/stable', 2),
        after: held,
        equals: { 'latest/stable': 1 },
      },
      { between: 'the package got another publisher', event: handOver, status: 404, after: held, equals: {} },
    ],
  },
  delete_revisions: {
    done: (world) => release(world.ada, world, 'latest/edge', 2),
    undone: (world) => status(askToDeleteFirst(world)),
    cases: [
      { between: 'nothing', after: (world) => remaining(world), equals: [2] },
      {
        between: 'the revision was released',
        event: (world) => release(world.ada, world, 'latest/stable', 1),
        status: 409,
        after: async (world) => [await remaining(world), await held(world)],
        equals: [[1, 2], { 'latest/edge': 2, 'latest/stable': 1 }],
      },
      {
        between: 'the revision was released to a branch that has ended, and the job has not closed it yet',
        async event(world) {
          await release(world.ada, world, 'latest/stable/fix', 1);
          world.store.clock.advance(days(31));
        },
        status: 409,
        after: (world) => remaining(world),
        equals: [1, 2],
      },
      {
        between: 'the revision was released, and the channel closed',
        async event(world) {
          await release(world.ada, world, 'latest/stable', 1);
          await release(world.ada, world, 'latest/stable', null);
        },
        after: (world) => remaining(world),
        equals: [2],
      },
      {
        between: 'the revision was withdrawn',
        event: (world) => withdraw(world.ada, world, 1),
        after: async (world) => [await remaining(world), await status(restore(world.ada, world, 1))],
        equals: [[2], 404],
      },
      {
        between: 'a newer revision came',
        event: ({ store, id }) => addRevision(store, id, 3, { size: 7 }),
        after: (world) => remaining(world),
        equals: [2, 3],
      },
      {
        between: 'it was deleted already',
        event: deleteFirst,
        status: 409,
        after: (world) => remaining(world),
        equals: [2],
      },
      {
        between: 'the package got another publisher',
        event: handOver,
        after: (world) => remaining(world),
        equals: [2],
      },
    ],
  },
};

/** The numbers of the revisions that are not deleted. */
const remaining = async ({ root, at }: World): Promise<number[]> => {
  const { body } = await root.get(at);
  const all = body['newest-revisions'] as { revision: number; deleted: object | null }[];
  return all
    .filter(({ deleted }) => deleted === null)
    .map(({ revision }) => revision)
    .sort((a, b) => a - b);
};

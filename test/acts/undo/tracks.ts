// Undoing acts of tracks, and of the guardrails that allow them.
import { days } from '#domain/clock.ts';
import { handOver, held, release, status, type UndoRow, type World } from './world.ts';

const pattern = '[0-9]+\\.[0-9]+';
const addGuardrail = ({ root, at }: World, added = pattern) => root.post(`${at}/guardrails`, { pattern: added });
const removeGuardrail = ({ root, at }: World) => root.post(`${at}/guardrails/remove`, { pattern });
const createTrack = ({ ada, name }: World, track = '1.0') => ada.post(`/v1/snap/${name}/tracks`, [{ name: track }]);
const deleteTrack = ({ ada, at }: World) => ada.delete(`${at}/tracks/1.0`);
const tracks = async ({ store, id }: World): Promise<string[]> =>
  (await store.beside.records.tracks.list(id)).map(({ name }) => name).sort();

export const trackRows: Readonly<Record<string, UndoRow>> = {
  delete_track: {
    async done(world) {
      await addGuardrail(world);
      await createTrack(world);
    },
    undone: (world) => status(deleteTrack(world)),
    cases: [
      { between: 'nothing', after: tracks, equals: ['latest'] },
      {
        between: 'a revision was released to it',
        event: (world) => release(world.ada, world, '1.0/stable', 1),
        status: 409,
        after: held,
        equals: { '1.0/stable': 1 },
      },
      {
        between: 'a revision was released to it, and the channel closed',
        async event(world) {
          await release(world.ada, world, '1.0/stable', 1);
          await release(world.ada, world, '1.0/stable', null);
        },
        after: tracks,
        equals: ['latest'],
      },
      {
        between: 'a branch of it got a revision',
        event: (world) => release(world.ada, world, '1.0/stable/fix', 1),
        status: 409,
        after: held,
        equals: { '1.0/stable/fix': 1 },
      },
      {
        between: 'a branch of it has ended',
        async event(world) {
          await release(world.ada, world, '1.0/stable/fix', 1);
          world.store.clock.advance(days(31));
        },
        async after(world) {
          await createTrack(world);
          return held(world);
        },
        equals: {},
      },
      {
        between: 'the revision that it held was withdrawn',
        async event(world) {
          await release(world.ada, world, '1.0/stable', 1);
          await world.ada.post(`${world.at}/revisions/1/withdraw`, { reason: 'It loses data.' });
        },
        after: tracks,
        equals: ['latest'],
      },
      {
        between: 'it became the default track',
        event: ({ ada, name }) => ada.patch(`/v1/snap/${name}`, { 'default-track': '1.0' }),
        status: 409,
        after: tracks,
        equals: ['1.0', 'latest'],
      },
      {
        between: 'the guardrail was removed',
        event: removeGuardrail,
        async after(world) {
          await createTrack(world);
          return tracks(world);
        },
        equals: ['latest'],
      },
      { between: 'it was deleted already', event: deleteTrack, status: 404, after: tracks, equals: ['latest'] },
      {
        between: 'it was deleted and created again',
        async event(world) {
          await deleteTrack(world);
          await createTrack(world);
        },
        after: tracks,
        equals: ['latest'],
      },
      {
        between: 'the package got another publisher',
        event: handOver,
        status: 404,
        after: tracks,
        equals: ['1.0', 'latest'],
      },
    ],
  },
  remove_guardrail: {
    done: (world) => addGuardrail(world),
    undone: (world) => status(removeGuardrail(world)),
    cases: [
      { between: 'nothing', after: (world) => status(createTrack(world)), equals: 400 },
      {
        between: 'a track was created',
        event: (world) => createTrack(world),
        async after(world) {
          await release(world.ada, world, '1.0/edge', 1);
          return [await tracks(world), await held(world), await status(createTrack(world, '2.0'))];
        },
        equals: [['1.0', 'latest'], { '1.0/edge': 1 }, 400],
      },
      {
        between: 'another guardrail was added that allows the same',
        event: (world) => addGuardrail(world, '[0-9.]+'),
        async after(world) {
          await createTrack(world);
          return tracks(world);
        },
        equals: ['1.0', 'latest'],
      },
      {
        between: 'it was removed already',
        event: removeGuardrail,
        status: 404,
        after: tracks,
        equals: ['latest'],
      },
      {
        between: 'it was removed and added again',
        async event(world) {
          await removeGuardrail(world);
          await addGuardrail(world);
        },
        after: (world) => status(createTrack(world)),
        equals: 400,
      },
      {
        between: 'the package got another publisher',
        event: handOver,
        after: ({ bob, name }) => status(bob.post(`/v1/snap/${name}/tracks`, [{ name: '1.0' }])),
        equals: 400,
      },
    ],
  },
};

// Undoing acts of rollouts.
import { release, status, type UndoRow, type World } from './world.ts';

/** Revision 1 is in stable, and a rollout of revision 2 has begun. */
async function rollOut(world: World): Promise<void> {
  const { ada, name, at } = world;
  await release(ada, world, 'stable', 1);
  await ada.post(`/v1/snap/${name}/releases`, [{ channel: 'stable', revision: 2, rollout: { steps: [10] } }]);
  const [rollout] = (await ada.get(`${at}/rollouts`)).body.rollouts as [{ number: number }];
  world.notes['rollout'] = `${at}/rollouts/${String(rollout.number)}`;
}

const change = ({ ada, notes }: World, verb: string) =>
  ada.post(`${notes['rollout'] ?? ''}/${verb}`, verb === 'pause' ? {} : undefined);
const withdraw = ({ ada, at }: World, revision: number) =>
  ada.post(`${at}/revisions/${String(revision)}/withdraw`, { reason: 'It loses data.' });

/** The releases of stable, and the state of the rollout. */
async function left({ store, ada, id, notes }: World): Promise<(string | number)[]> {
  const held = await store.beside.records.releases.held(id);
  const { state } = (await ada.get(notes['rollout'] ?? '')).body as { state: string };
  return [
    ...held.map(({ revision, progressive: { percentage, paused } }) =>
      [
        revision,
        ...(percentage === null ? [] : [`${String(percentage)} %`]),
        ...(paused === true ? ['paused'] : []),
      ].join(' '),
    ),
    state,
  ];
}

const events = {
  full: { between: 'the channel got a full release', event: (world: World) => release(world.ada, world, 'stable', 2) },
  closed: { between: 'the channel was closed', event: (world: World) => release(world.ada, world, 'stable', null) },
  withdrawn: { between: 'its revision was withdrawn', event: (world: World) => withdraw(world, 2) },
  older: { between: 'the older revision was withdrawn', event: (world: World) => withdraw(world, 1) },
  again: {
    between: 'the same revision got another percentage',
    event: ({ ada, name }: World) =>
      ada.post(`/v1/snap/${name}/releases`, [{ channel: 'stable', revision: 2, progressive: { percentage: 30 } }]),
  },
};

export const rolloutRows: Readonly<Record<string, UndoRow>> = {
  roll_back_rollout: {
    done: rollOut,
    undone: (world) => status(change(world, 'roll-back')),
    cases: [
      { between: 'nothing', after: left, equals: ['1', 'rolled-back'] },
      { between: 'it was paused', event: (world) => change(world, 'pause'), after: left, equals: ['1', 'rolled-back'] },
      { ...events.full, status: 409, after: left, equals: ['2', 'ended'] },
      { ...events.closed, status: 409, after: left, equals: ['ended'] },
      { ...events.withdrawn, status: 409, after: left, equals: ['1', 'ended'] },
      { ...events.older, after: left, equals: ['rolled-back'] },
      { ...events.again, status: 409, after: left, equals: ['1', '2 30 %', 'ended'] },
    ],
  },
  resume_rollout: {
    async done(world) {
      await rollOut(world);
      await change(world, 'pause');
    },
    undone: (world) => status(change(world, 'resume')),
    cases: [
      { between: 'nothing', after: left, equals: ['1', '2 10 %', 'running'] },
      {
        between: 'it was resumed and paused again',
        async event(world) {
          await change(world, 'resume');
          await change(world, 'pause');
        },
        after: left,
        equals: ['1', '2 10 %', 'running'],
      },
      {
        between: 'it was resumed',
        event: (world) => change(world, 'resume'),
        after: left,
        equals: ['1', '2 10 %', 'running'],
      },
      {
        between: 'it was rolled back',
        event: (world) => change(world, 'roll-back'),
        status: 409,
        after: left,
        equals: ['1', 'rolled-back'],
      },
      { ...events.full, status: 409, after: left, equals: ['2', 'ended'] },
      { ...events.closed, status: 409, after: left, equals: ['ended'] },
      { ...events.withdrawn, status: 409, after: left, equals: ['1', 'ended'] },
      { ...events.older, after: left, equals: ['2 10 %', 'running'] },
      { ...events.again, status: 409, after: left, equals: ['1', '2 30 %', 'ended'] },
    ],
  },
};

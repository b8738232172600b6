// Undoing what fleets are: their names. Each case has a fleet with the name of its package.
import { release, status, type UndoRow, type World } from './world.ts';

const create = ({ root, name }: World) =>
  root.post('/internal/v1/fleets', { name, kind: 'serial', devices: [`acme/pump/${name}`] });
const pin = async (world: World, body: object = { channel: 'stable', mode: 'pin', revision: 1 }) => {
  await release(world.ada, world, 'stable', 1);
  return world.root.post(`${world.at}/fleets/${world.name}/channel`, body);
};
const setWindow = ({ root, name }: World, window: string | null) =>
  root.post(`/internal/v1/fleets/${name}/window`, { window });

/** Whether the fleet exists, the devices that it selects, and the number of its settings. */
async function rest({ store, id, name }: World): Promise<unknown[]> {
  const { fleets } = store.beside.records;
  const settings = (await fleets.settingsOfPackage(id)).length;
  return [(await fleets.find(name)) !== undefined, (await fleets.selectors(name, '', 10)).length, settings];
}

export const fleetRows: Readonly<Record<string, UndoRow>> = {
  delete_fleet: {
    done: create,
    undone: ({ root, name }) => status(root.delete(`/internal/v1/fleets/${name}`)),
    cases: [
      { between: 'nothing', after: rest, equals: [false, 0, 0] },
      { between: 'a channel was pinned', event: (world) => pin(world), status: 409, after: rest, equals: [true, 1, 1] },
      {
        between: 'a channel was pinned and cleared',
        async event(world) {
          await pin(world);
          await pin(world, { channel: 'stable', mode: 'clear' });
        },
        after: rest,
        equals: [false, 0, 0],
      },
      {
        between: 'it got a refresh window',
        event: (world) => setWindow(world, 'Sat 02:00-05:00 UTC'),
        status: 409,
        after: rest,
        equals: [true, 1, 0],
      },
      {
        between: 'it got more devices',
        event: ({ root, name }) => root.post(`/internal/v1/fleets/${name}/devices`, { add: ['acme/pump/more'] }),
        after: rest,
        equals: [false, 0, 0],
      },
      {
        between: 'it was deleted already',
        event: ({ root, name }) => root.delete(`/internal/v1/fleets/${name}`),
        status: 404,
        after: rest,
        equals: [false, 0, 0],
      },
    ],
  },
};

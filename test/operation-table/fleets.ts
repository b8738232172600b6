// Rows of the operations about fleets.
import type { OperationRows } from './row.ts';
import { makeFleet, must, once, request } from './writes.ts';

export const fleetsRows: OperationRows = {
  list_seen_devices: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/devices' }],
  },
  read_seen_device: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/devices/nobody/none/1', status: 404 }],
  },
  read_device_days: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/devices/days' }],
  },
  list_fleets: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/fleets' }],
  },
  read_fleet: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/fleets/pumps' }],
  },
  list_fleet_devices: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/fleets/pumps/devices' }],
  },
  explain_fleets: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/packages/snap/tiny-app/fleet-explanation?device=acme/pump/0001' }],
  },
  create_fleet: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: once(async ({ root }, n) =>
      request(root, 'POST', '/internal/v1/fleets', { name: `created-${n}`, kind: 'brand', devices: ['acme'] }),
    ),
  },
  delete_fleet: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: once(async (world, n) => request(world.root, 'DELETE', (await makeFleet(world, n, 'deleted')).at)),
  },
  update_fleet_devices: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: once(async (world, n) =>
      request(world.root, 'POST', `${(await makeFleet(world, n, 'updated')).at}/devices`, { add: ['acme/pump/new'] }),
    ),
  },
  set_fleet_window: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: once(async (world, n) =>
      request(world.root, 'POST', `${(await makeFleet(world, n, 'windowed')).at}/window`, {
        window: 'Sat 02:00-05:00 UTC',
      }),
    ),
  },
  set_fleet_channel: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: once(async (world, n) => {
      const { channels } = await makeFleet(world, n, 'pinned');
      return request(world.root, 'POST', `${channels}/channel`, { channel: 'stable', mode: 'hold' });
    }),
  },
  set_fleet_visibility: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: once(async (world, n) => {
      const { channels } = await makeFleet(world, n, 'hidden');
      must(await world.root.post(`${channels}/visibility`, { hidden: true }));
      return request(world.root, 'POST', `${channels}/visibility`, { hidden: false });
    }),
  },
};

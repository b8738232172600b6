// Rows of the operations about fleets.
import type { OperationRows } from './row.ts';

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
};

// Rows of the operations about devices.
import type { OperationRows } from './row.ts';
import { makeGrantsPath, must, once, request } from './writes.ts';

export const devicesRows: OperationRows = {
  list_serial_log: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['store-view', 'account-manage-keys', 'account-manage-metadata', 'store-manage'],
    reads: ({ ids }) => [{ as: 'ada', path: `/v1/brand/${ids.ada}/model/pump/serial-log` }],
  },
  list_serial_log_of_serial: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['store-view', 'account-manage-keys', 'account-manage-metadata', 'store-manage'],
    reads: ({ ids }) => [{ as: 'ada', path: `/v1/brand/${ids.ada}/model/pump/serial/0001/serial-log` }],
  },
  revoke_serial: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['account-manage-metadata', 'store-manage'],
    writes: once(async ({ ada, brand }, n) =>
      request(ada, 'POST', `/v1/brand/${brand}/model/mill/serial/stolen-${n}/revoke`, { reason: 'It was stolen.' }),
    ),
  },
  device_request_id: { about: 'public', callers: 'anyone', writes: 'writes nothing' },
  device_request_id_of_old: { about: 'public', callers: 'anyone', writes: 'writes nothing' },
  device_serial: { about: 'public', callers: 'anyone', writes: 'not tried: needs a device of its own each time' },
  device_serial_of_old: { about: 'public', callers: 'anyone', writes: 'the same operation at its older address' },
  device_nonce: { about: 'public', callers: 'anyone', writes: 'writes nothing' },
  device_session: {
    about: 'public',
    callers: 'anyone',
    writes: 'operations/devices/sessions/device-session.test.ts, where two processes get the same one',
  },
  refresh_snaps: { about: 'packages', callers: 'anyone', writes: 'writes nothing' },
  snap_info: { about: 'packages', callers: 'anyone', reads: () => [{ path: '/v2/snaps/info/tiny-app' }] },
  find_snaps: {
    about: 'packages',
    callers: 'anyone',
    reads: () => [{ path: '/v2/snaps/find?q=tiny&channel=stable&architecture=amd64' }],
  },
  snap_names: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: '/api/v1/snaps/names?confinement=strict', headers: { 'accept-encoding': 'gzip' } }],
  },
  snap_categories: { about: 'public', callers: 'anyone', reads: () => [{ path: '/v2/snaps/categories' }] },
  snap_sections: { about: 'public', callers: 'anyone', reads: () => [{ path: '/api/v1/snaps/sections' }] },
  download_snap: {
    about: 'packages',
    callers: 'anyone',
    reads: ({ ids }) => [{ path: `/api/v1/snaps/download/${ids.snap}_1.snap` }],
  },
  create_cohorts: { about: 'packages', callers: 'anyone', writes: 'writes nothing' },
  list_device_grants: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/packages/snap/tiny-app/device-grants' }],
  },
  grant_to_devices: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: once(async (world, n) =>
      request(world.root, 'POST', await makeGrantsPath(world, n, 'granted'), { 'brand-id': 'acme' }),
    ),
  },
  revoke_from_devices: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: once(async (world, n) => {
      const at = await makeGrantsPath(world, n, 'revoked');
      must(await world.root.post(at, { 'brand-id': 'acme' }));
      return request(world.root, 'POST', `${at}/revoke`, { 'brand-id': 'acme' });
    }),
  },
  device_messages: { about: 'public', callers: 'anyone', writes: 'writes nothing' },
};

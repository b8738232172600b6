// Rows of the operations about releases.
import type { OperationRows } from './row.ts';
import { each, makePackage, makeRollout, makeTrackedPackage, must, once, request } from './writes.ts';

export const releasesRows: OperationRows = {
  list_releases: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-releases'],
    administrator: 'store-view',
    reads: () => [
      { variant: '20 tracks', as: 'bob', path: '/v1/snap/measured-0/releases' },
      { as: 'ada', path: '/v1/snap/tiny-app/releases' },
    ],
  },
  push_releases: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-releases'],
    administrator: 'store-manage',
  },
  list_rollouts: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-releases'],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/internal/v1/packages/snap/tiny-app/rollouts' }],
  },
  read_rollout: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-releases'],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/internal/v1/packages/snap/tiny-app/rollouts/1' }],
  },
  pause_rollout: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-releases'],
    administrator: 'store-manage',
    writes: once(async (world, n) => {
      const at = await makeRollout(world, n, 'pa');
      return request(world.ada, 'POST', `${at}/pause`, {});
    }),
  },
  resume_rollout: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-releases'],
    administrator: 'store-manage',
    writes: once(async (world, n) => {
      const at = await makeRollout(world, n, 're');
      must(await world.ada.post(`${at}/pause`, {}));
      return request(world.ada, 'POST', `${at}/resume`);
    }),
  },
  roll_back_rollout: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-releases'],
    administrator: 'store-manage',
    writes: once(async (world, n) => request(world.ada, 'POST', `${await makeRollout(world, n, 'rb')}/roll-back`)),
  },
  create_tracks: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-releases'],
    administrator: 'store-manage',
    writes: once(async (world, n) => {
      const { at, name } = await makePackage(world, n, 'tracked');
      must(await world.root.post(`${at}/guardrails`, { pattern: '^[0-9]+$' }));
      return request(world.ada, 'POST', `/v1/bin/${name}/tracks`, [{ name: '2' }]);
    }),
  },
  update_track: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-releases'],
    administrator: 'store-manage',
    writes: each(async (world, n) => {
      const { at, name } = await makeTrackedPackage(world, n, 'changed');
      return request(world.ada, 'PATCH', `${at}/tracks/2`, { 'version-pattern': `^${name}$` });
    }),
  },
  delete_track: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-releases'],
    administrator: 'store-manage',
    writes: once(async (world, n) =>
      request(world.ada, 'DELETE', `${(await makeTrackedPackage(world, n, 'gone')).at}/tracks/2`),
    ),
  },
  list_guardrails: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/packages/snap/tiny-app/guardrails' }],
  },
  add_guardrail: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: once(async (world, n) =>
      request(world.root, 'POST', `${(await makePackage(world, n, 'guarded')).at}/guardrails`, { pattern: '^[0-9]+$' }),
    ),
  },
  remove_guardrail: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: once(async (world, n) =>
      request(world.root, 'POST', `${(await makeTrackedPackage(world, n, 'unguarded')).at}/guardrails/remove`, {
        pattern: '^[0-9]+$',
      }),
    ),
  },
};

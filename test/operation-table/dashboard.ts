// Rows of the operations about dashboard.
import { snapFixture } from '#test/fixtures/appliance.ts';
import type { OperationRows } from './row.ts';
import { each, must, once, request } from './writes.ts';

export const dashboardRows: OperationRows = {
  dashboard_snap_push: {
    about: 'packages',
    callers: 'publisher, collaborator',
    needs: ['package-manage-revisions'],
    administrator: 'store-manage',
    writes: once(async ({ ada }, n) => {
      must(await ada.post('/v1/snap', { name: `sent-${n}` }));
      const updown_id = await ada.upload(Buffer.concat([await snapFixture('app-xz'), Buffer.from(String(n))]));
      return request(ada, 'POST', '/dev/api/snap-push/', { name: `sent-${n}`, updown_id });
    }),
  },
  dashboard_upload_status: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-revisions', 'package-manage-revisions'],
    administrator: 'store-view',
    reads: ({ ids }) => [{ as: 'ada', path: `/dev/api/snaps/${ids.snap}/uploads/${ids.upload}/status` }],
  },
  dashboard_snap_release: {
    about: 'packages',
    callers: 'publisher, collaborator',
    needs: ['package-manage-releases'],
    administrator: 'store-manage',
    writes: 'does the act of push_releases',
  },
  dashboard_close: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-releases'],
    administrator: 'store-manage',
    writes: 'does the act of push_releases',
  },
  dashboard_state: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: [
      'package-view-releases',
      'package-manage-acl',
      'package-manage-metadata',
      'package-manage-releases',
      'package-manage-revisions',
    ],
    administrator: 'store-view',
    reads: ({ ids }) => [{ as: 'ada', path: `/dev/api/snaps/${ids.snap}/state?series=16` }],
  },
  dashboard_channel_map: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: [
      'package-view-releases',
      'package-manage-acl',
      'package-manage-metadata',
      'package-manage-releases',
      'package-manage-revisions',
    ],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/api/v2/snaps/tiny-app/channel-map' }],
  },
  dashboard_releases: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: [
      'package-view-releases',
      'package-manage-acl',
      'package-manage-metadata',
      'package-manage-releases',
      'package-manage-revisions',
    ],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/api/v2/snaps/tiny-app/releases' }],
  },
  dashboard_metrics: {
    about: 'packages',
    callers: 'publisher, collaborator',
    needs: ['package-view-metrics'],
    administrator: 'store-view',
    writes: 'writes nothing',
  },
  dashboard_metadata: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-metadata'],
    administrator: 'store-manage',
    writes: each(async ({ ada }, n) => {
      const { id } = must(await ada.post('/v1/snap', { name: `said-${n}` }));
      return request(ada, 'POST', `/dev/api/snaps/${id}/metadata`, { title: 'Said' });
    }),
  },
  dashboard_force_metadata: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-metadata'],
    administrator: 'store-manage',
    writes: each(async ({ ada }, n) => {
      const { id } = must(await ada.post('/v1/snap', { name: `forced-${n}` }));
      return request(ada, 'PUT', `/dev/api/snaps/${id}/metadata`, { title: 'Forced' });
    }),
  },
  dashboard_read_binary_metadata: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-metadata', 'package-manage-metadata'],
    administrator: 'store-view',
    reads: ({ ids }) => [{ as: 'ada', path: `/dev/api/snaps/${ids.snap}/binary-metadata` }],
  },
  dashboard_binary_metadata: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-metadata'],
    administrator: 'store-manage',
    writes: 'two at once in test/operations/dashboard/metadata.test.ts',
  },
  dashboard_force_binary_metadata: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-metadata'],
    administrator: 'store-manage',
    writes: 'two at once in test/operations/dashboard/metadata.test.ts',
  },
  dashboard_list_validation_sets: {
    about: 'store',
    callers: 'any account',
    reads: () => [{ as: 'ada', path: '/api/v2/validation-sets' }],
  },
  dashboard_read_validation_set: {
    about: 'store',
    callers: 'any account',
    reads: () => [{ as: 'ada', path: '/api/v2/validation-sets/base-set' }],
  },
  dashboard_build_validation_set: { about: 'store', callers: 'any account', writes: 'writes nothing' },
  dashboard_post_validation_set: {
    about: 'store',
    callers: 'any account',
    writes: 'two at once in test/operations/dashboard/validation-sets.test.ts',
  },
  dashboard_list_confdb_schemas: {
    about: 'store',
    callers: 'any account',
    reads: () => [{ as: 'ada', path: '/api/v2/confdb-schemas' }],
  },
  dashboard_read_confdb_schema: {
    about: 'store',
    callers: 'any account',
    reads: () => [{ as: 'ada', path: '/api/v2/confdb-schemas/network' }],
  },
  dashboard_build_confdb_schema: { about: 'store', callers: 'any account', writes: 'writes nothing' },
  dashboard_post_confdb_schema: {
    about: 'store',
    callers: 'any account',
    writes: 'two at once in test/operations/dashboard/confdb-schemas.test.ts',
  },
  dashboard_builds: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-revisions'],
    administrator: 'store-manage',
    writes: 'two at once in test/operations/dashboard/validation-sets.test.ts',
  },
};

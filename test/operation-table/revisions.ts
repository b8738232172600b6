// Rows of the operations about revisions.
import type { OperationRows } from './row.ts';
import { makePackage, must, once, request } from './writes.ts';

export const revisionsRows: OperationRows = {
  push_revision: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-revisions'],
    administrator: 'store-manage',
  },
  list_upload_reviews: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-revisions'],
    administrator: 'store-view',
    reads: ({ ids }) => [
      { as: 'ada', path: '/v1/snap/tiny-app/revisions/review' },
      { variant: 'one', as: 'ada', path: `/v1/snap/tiny-app/revisions/review?upload-id=${ids.upload}` },
    ],
  },
  list_revisions: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-revisions'],
    administrator: 'store-view',
    reads: () => [
      { variant: 'hundred', as: 'bob', path: '/v1/snap/measured-0/revisions' },
      { as: 'ada', path: '/v1/snap/tiny-app/revisions' },
    ],
  },
  list_kept_revisions: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-revisions'],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/internal/v1/packages/snap/tiny-app/revisions' }],
  },
  withdraw_revision: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-releases'],
    administrator: 'store-manage',
    writes: once(async (world, n) => {
      const { at } = await makePackage(world, n, 'withdrawn');
      return request(world.ada, 'POST', `${at}/revisions/1/withdraw`, { reason: 'leaks' });
    }),
  },
  restore_revision: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-releases'],
    administrator: 'store-manage',
    writes: once(async (world, n) => {
      const { at } = await makePackage(world, n, 'restored');
      must(await world.ada.post(`${at}/revisions/1/withdraw`, { reason: 'leaks' }));
      return request(world.ada, 'POST', `${at}/revisions/1/restore`);
    }),
  },
  delete_revisions: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-revisions'],
    administrator: 'store-manage',
    writes: once(async (world, n) => {
      const { at } = await makePackage(world, n, 'deleted');
      return request(world.ada, 'POST', `${at}/revisions/delete`, { keep: 1, revisions: [1] });
    }),
  },
};

// Rows of the operations about resources.
import type { OperationRows } from './row.ts';

export const resourcesRows: OperationRows = {
  list_resources: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-revisions'],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/v1/charm/juggler/resources' }],
  },
  list_resource_revisions: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-revisions'],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/v1/charm/juggler/resources/image/revisions' }],
  },
  push_resource: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-revisions'],
    administrator: 'store-manage',
  },
  update_resource_revisions: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-revisions'],
    administrator: 'store-manage',
  },
  oci_image_resource_upload_credentials: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-revisions'],
    administrator: 'store-manage',
    reads: () => [{ as: 'ada', path: '/v1/charm/juggler/resources/image/oci-image/upload-credentials' }],
  },
  oci_image_resource_blob: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-manage-revisions'],
    administrator: 'store-manage',
  },
};

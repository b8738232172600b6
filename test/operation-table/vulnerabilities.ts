// Rows of the operations about the contents of revisions and known vulnerabilities.
import type { OperationRows } from './row.ts';

export const vulnerabilitiesRows: OperationRows = {
  read_revision_sbom: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-revisions'],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/internal/v1/packages/snap/tiny-app/revisions/1/sbom' }],
  },
  read_image_sbom: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-revisions'],
    administrator: 'store-view',
    reads: ({ image }) => [
      { as: 'ada', path: `/internal/v1/packages/charm/juggler/resources/image/images/${image.manifest}/sbom` },
    ],
  },
};

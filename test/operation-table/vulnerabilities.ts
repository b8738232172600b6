// Rows of the operations about the contents of revisions and known vulnerabilities.
import type { OperationRows } from './row.ts';

const twice = 'two at once in test/operations/vulnerabilities/findings.test.ts';

export const vulnerabilitiesRows: OperationRows = {
  list_package_findings: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view-revisions'],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/internal/v1/packages/snap/tiny-app/findings' }],
  },
  list_findings: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/findings?severity=high' }],
  },
  list_accepted_findings: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/accepted-findings' }],
  },
  accept_finding: { about: 'store', callers: 'store administrator', needs: ['store-manage'], writes: twice },
  withdraw_accepted_finding: { about: 'store', callers: 'store administrator', needs: ['store-manage'], writes: twice },
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

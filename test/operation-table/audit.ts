// Rows of the operations about audit.
import type { OperationRows } from './row.ts';

export const auditRows: OperationRows = {
  list_exports: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [
      { as: 'root', path: '/internal/v1/exports' },
      {
        variant: 'of a time',
        as: 'root',
        path: '/internal/v1/exports?from=2000-01-01T00:00:00Z&to=2001-01-01T00:00:00Z',
      },
    ],
  },
  list_audit: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [
      { as: 'root', path: '/internal/v1/audit' },
      { variant: 'filtered', as: 'root', path: '/internal/v1/audit?actor=nobody' },
    ],
  },
};

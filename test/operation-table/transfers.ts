// Rows of the operations about transfers.
import type { OperationRows } from './row.ts';

export const transfersRows: OperationRows = {
  list_transfers: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/transfers' }],
  },
  read_transfer: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: `/internal/v1/transfers/${'0'.repeat(64)}`, status: 404 }],
  },
  accept_transfer: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: 'two at once in test/console/transfers/carry.test.ts',
  },
  withdraw_transfer: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: 'two at once in test/console/transfers/carry.test.ts',
  },
  discard_transfer: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-manage'],
    writes: 'two at once in test/console/transfers/carry.test.ts',
  },
};

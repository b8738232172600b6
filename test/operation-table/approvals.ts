// Rows of the operations about approvals.
import type { OperationRows } from './row.ts';

export const approvalsRows: OperationRows = {
  list_proposals: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/proposals' }],
  },
  read_proposal: {
    about: 'store',
    callers: 'any account',
    reads: () => [{ as: 'root', path: '/internal/v1/proposals/1' }],
  },
  read_proposal_text: {
    about: 'store',
    callers: 'any account',
    reads: () => [{ as: 'root', path: '/internal/v1/proposals/1/text', status: 409 }],
  },
  approve_proposal: {
    about: 'store',
    callers: 'any account',
    writes: 'two at once in test/operations/approvals/approvals.test.ts',
  },
  reject_proposal: {
    about: 'store',
    callers: 'any account',
    writes: 'two at once in test/operations/approvals/approvals.test.ts',
  },
};

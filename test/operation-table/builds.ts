// Rows of the operations about builds.
import type { OperationRows } from './row.ts';

export const buildsRows: OperationRows = {
  buildset_status: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view'],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/v1/craft/buildsets?package=source/well' }],
  },
  filter_commit_workflows: {
    about: 'package',
    callers: 'publisher, collaborator',
    needs: ['package-view'],
    administrator: 'store-view',
    reads: () => [{ as: 'ada', path: '/v1/craft/commit-workflows?package=source/well' }],
  },
  add_buildset: {
    about: 'packages',
    callers: 'any account',
    needs: ['package-manage-revisions'],
    writes: 'not tried: a set that is added twice is two sets',
  },
  update_build: {
    about: 'packages',
    callers: 'any account',
    needs: ['package-manage-revisions'],
    writes: 'not tried: needs a store that keeps builds',
  },
  add_commit_workflow: {
    about: 'packages',
    callers: 'any account',
    needs: ['package-manage-revisions'],
    writes: 'not tried: a workflow that is added twice is two',
  },
  update_commit_workflow: {
    about: 'packages',
    callers: 'any account',
    needs: ['package-manage-revisions'],
    writes: 'not tried: needs a store that keeps builds',
  },
};

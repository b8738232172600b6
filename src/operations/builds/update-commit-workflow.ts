import { updateCommitWorkflow as act } from '#acts/builds/builds.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { presentCommitWorkflow } from './present.ts';
import { hostOfWorkflow } from './build-host.ts';

export const updateCommitWorkflow = operation({
  name: 'update_commit_workflow',
  method: 'PATCH',
  path: '/internal/v1/craft/commit-workflows/:commit_workflow_id',
  since: 0,
  summary: 'Report the state of a commit workflow; for build hosts.',
  access: hostOfWorkflow,
  enabledBy: 'internal.build_records',
  body: 'UpdateCommitWorkflowRequest',
  response: 'CommitWorkflow',
  refuses: ['resource-not-found', 'conflict'],

  async handle(call) {
    const { package: subject, params, body, acts } = call;
    const id = params.commit_workflow_id;
    const { status, errors, buildsets } = body;
    const report = {
      ...(status !== undefined && { status }),
      ...(errors !== undefined && { errors }),
      ...(buildsets !== undefined && { buildSets: buildsets.map(({ id }) => id) }),
    };
    const changed = await acts.do(act, caller(call), { package: subject, id, changes: report });
    return presentCommitWorkflow(changed);
  },
});

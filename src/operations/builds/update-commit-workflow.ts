import { operation } from '#api/operation.ts';
import { isWorkflowOver, workflowMayMove } from '#domain/build-status.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';
import { presentCommitWorkflow } from './present.ts';
import { buildHost, writableOf } from './writer.ts';

export const updateCommitWorkflow = operation({
  name: 'update_commit_workflow',
  method: 'PATCH',
  path: '/internal/v1/craft/commit-workflows/:commit_workflow_id',
  since: 0,
  summary: 'Tell what has become of a commit workflow; for build hosts.',
  access: buildHost,
  enabledBy: 'internal.build_records',
  body: 'UpdateCommitWorkflowRequest',
  response: 'CommitWorkflow',
  refuses: ['resource-not-found', 'conflict'],

  async handle(call) {
    const { principal, params, body, records, now } = call;
    const unknown = new Refusal(
      'resource-not-found',
      'There is no such commit workflow, or this account has no part in its package.',
    );
    const known = await records.commitWorkflows.find(params.commit_workflow_id);
    if (known === undefined) throw unknown;
    const subject = await writableOf(known, principal, records, unknown);
    const at = timestamp(now());
    const object = `${subject.namespace}/${subject.name}`;
    const entry = { ...by(call, 'update_commit_workflow'), at, object, details: { id: known.id, status: body.status } };
    const changed = await records.change(entry, async (tx) => {
      const before = (await tx.commitWorkflows.find(known.id)) ?? known;
      const status = body.status === undefined ? before.status : body.status;
      if (!workflowMayMove(before.status, status)) {
        throw new Refusal(
          'conflict',
          `A commit workflow that is ${before.status ?? 'not begun'} cannot become ${status ?? 'not begun'}.`,
        );
      }
      const next = {
        ...before,
        status,
        errors: body.errors ?? before.errors,
        buildSets: body.buildsets?.map(({ id }) => id) ?? before.buildSets,
        completedAt: isWorkflowOver(status) ? (before.completedAt ?? at) : null,
      };
      await tx.commitWorkflows.put(next);
      return next;
    });
    return presentCommitWorkflow(changed);
  },
});

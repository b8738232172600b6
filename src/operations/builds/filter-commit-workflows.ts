import { onQueriedPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { fullChannelName, newest } from './filters.ts';
import { presentCommitWorkflow } from './present.ts';

export const filterCommitWorkflows = operation({
  name: 'filter_commit_workflows',
  method: 'GET',
  path: '/v1/craft/commit-workflows',
  since: 44,
  summary: "List a package's commit workflows, newest first.",
  access: onQueriedPackage('package-view'),
  query: 'FilterCommitWorkflowsQuery',
  response: 'FilterCommitWorkflowsResponse',
  refuses: ['resource-not-found'],

  async handle({ package: subject, query, records }) {
    const { 'commit-workflow-id': id = null, 'commit-hash': commitHash = null, plane = null, domain = null } = query;
    const filter = { id, commitHash, channel: fullChannelName(query.channel), plane, domain };
    const workflows = await records.commitWorkflows.list(subject.id, filter, newest);
    return { 'commit-workflows': workflows.map(presentCommitWorkflow) };
  },
});

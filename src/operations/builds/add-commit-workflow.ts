import { addCommitWorkflow as act } from '#acts/builds/builds.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { presentCommitWorkflow } from './present.ts';
import { buildHost, readChannelName } from './build-host.ts';

export const addCommitWorkflow = operation({
  name: 'add_commit_workflow',
  method: 'POST',
  path: '/internal/v1/craft/commit-workflows',
  since: 0,
  summary: 'Report a new commit workflow; for build hosts.',
  access: buildHost,
  enabledBy: 'internal.build_records',
  body: 'AddCommitWorkflowRequest',
  response: 'CommitWorkflow',
  status: 201,
  refuses: ['resource-not-found'],

  async handle(call) {
    const { packageNamed, body, acts, newId } = call;
    const subject = await packageNamed(body.package);
    const workflow = {
      id: newId.uuid(),
      commitHash: body['commit-hash'],
      craftChannel: readChannelName(body['craft-channel']),
      craftRevision: body['craft-revision'],
      buildSets: body.buildsets.map(({ id }) => id),
      status: body.status,
      errors: body.errors ?? [],
      plane: body.plane ?? null,
      domain: body.domain ?? null,
    };
    return presentCommitWorkflow(await acts.do(act, caller(call), { package: subject, workflow }));
  },
});

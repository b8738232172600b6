import { updateBuild as act } from '#acts/builds/builds.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { presentBuild } from './present.ts';
import { hostOfBuildSet, parseBuildReport } from './build-host.ts';

export const updateBuild = operation({
  name: 'update_build',
  method: 'PATCH',
  path: '/internal/v1/craft/buildsets/:buildset_id/builds/:build_id',
  since: 0,
  summary: 'Report the state of a build; for build hosts.',
  access: hostOfBuildSet,
  enabledBy: 'internal.build_records',
  body: 'UpdateBuildRequest',
  response: 'Build',
  refuses: ['resource-not-found', 'conflict'],

  async handle(call) {
    const { package: subject, params, body, acts } = call;
    const { buildset_id: buildSetId, build_id: buildId } = params;
    const { status, errors } = body;
    const report = {
      ...(status !== undefined && { status }),
      ...(errors !== undefined && { errors }),
      ...parseBuildReport(body),
    };
    const build = { package: subject, buildSetId, buildId, changes: report };
    const changed = await acts.do(act, caller(call), build);
    return presentBuild(changed);
  },
});

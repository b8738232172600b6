import { operation } from '#api/operation.ts';
import { buildMayMove, isBuildOver } from '#domain/build-status.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';
import { presentBuild } from './present.ts';
import { buildHost, told, writableOf } from './writer.ts';

export const updateBuild = operation({
  name: 'update_build',
  method: 'PATCH',
  path: '/internal/v1/craft/buildsets/:buildset_id/builds/:build_id',
  since: 0,
  summary: 'Tell what has become of a build; for build hosts.',
  access: buildHost,
  enabledBy: 'internal.build_records',
  body: 'UpdateBuildRequest',
  response: 'Build',
  refuses: ['resource-not-found', 'conflict'],

  async handle(call) {
    const { principal, params, body, records, now } = call;
    const unknown = new Refusal(
      'resource-not-found',
      'There is no such build, or this account has no part in its package.',
    );
    const set = await records.buildSets.find(params.buildset_id);
    if (set === undefined) throw unknown;
    const subject = await writableOf(set, principal, records, unknown);
    const at = timestamp(now());
    const details = { buildset: set.id, build: params.build_id, status: body.status };
    const entry = { ...by(call, 'update_build'), at, object: `${subject.namespace}/${subject.name}`, details };
    const changed = await records.change(entry, async (tx) => {
      const builds = await tx.buildSets.buildsOf([set.id]);
      const position = builds.findIndex(({ id }) => id === params.build_id);
      const build = builds[position];
      if (build === undefined) throw unknown;
      const status = body.status ?? build.status;
      if (!buildMayMove(build.status, status)) {
        throw new Refusal('conflict', `A build that is ${build.status} cannot become ${status}.`);
      }
      const completedAt = isBuildOver(status) ? (build.completedAt ?? at) : null;
      const next = { ...build, status, errors: body.errors ?? build.errors, completedAt, ...told(body) };
      await tx.buildSets.putBuild(subject.id, position, next);
      return next;
    });
    return presentBuild(changed);
  },
});

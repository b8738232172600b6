import { addBuildset as act, type NewBuild } from '#acts/builds/builds.ts';
import { operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import { caller } from '../caller.ts';
import { presentBuildSet } from './present.ts';
import { buildHost, readChannelName, parseBuildReport } from './build-host.ts';

export const addBuildset = operation({
  name: 'add_buildset',
  method: 'POST',
  path: '/internal/v1/craft/buildsets',
  since: 0,
  summary: 'Report a new build set and its builds; for build hosts.',
  access: buildHost,
  enabledBy: 'internal.build_records',
  body: 'AddBuildsetRequest',
  response: 'BuildSet',
  status: 201,
  refuses: ['resource-not-found'],

  async handle(call) {
    const { packageOfId, body, acts, newId } = call;
    const target = body.package;
    const subject = await packageOfId(target.id);
    if (subject.name !== target.name || subject.type !== target.type) {
      throw new Refusal('api-error', `The package ${subject.id} is the ${subject.type} '${subject.name}' at /package`);
    }
    const set = {
      id: newId.uuid(),
      commitHash: target['commit-hash'],
      craftChannel: readChannelName(target['craft-channel']),
      craftRevision: target['craft-revision'],
      craftVersion: target['craft-version'],
      platforms: body.platforms,
      triggers: body.triggers,
      plane: body.plane ?? null,
    };
    const builds = body.builds.map((build): NewBuild => ({
      id: newId.uuid(),
      status: build.status,
      errors: build.errors ?? [],
      platform: build.platform,
      logs: null,
      releasedChannel: null,
      releasedRevision: null,
      ...parseBuildReport(build),
    }));
    const added = await acts.do(act, caller(call), { package: subject, set, builds });
    return presentBuildSet(added.set, added.builds, subject);
  },
});

import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { isBuildOver } from '#domain/build-status.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Build } from '#records/build-sets.ts';
import { by } from '../by.ts';
import { presentBuildSet } from './present.ts';
import { buildHost, channelName, told, writable } from './writer.ts';

export const addBuildset = operation({
  name: 'add_buildset',
  method: 'POST',
  path: '/internal/v1/craft/buildsets',
  since: 0,
  summary: 'Tell of a new build set and its builds; for build hosts.',
  access: buildHost,
  enabledBy: 'internal.build_records',
  body: 'AddBuildsetRequest',
  response: 'BuildSet',
  status: 201,
  refuses: ['resource-not-found'],

  async handle(call) {
    const { principal, body, records, now, newId } = call;
    const named = body.package;
    const subject = await writable(await records.packages.byId(named.id), principal, records, named.name);
    if (subject.name !== named.name || subject.type !== named.type) {
      throw new Refusal('api-error', `The package ${subject.id} is the ${subject.type} '${subject.name}' at /package`);
    }
    const at = timestamp(now());
    const set = {
      id: newId.uuid(),
      packageId: subject.id,
      commitHash: named['commit-hash'],
      craftChannel: channelName(named['craft-channel']),
      craftRevision: named['craft-revision'],
      craftVersion: named['craft-version'],
      platforms: body.platforms,
      triggers: body.triggers,
      plane: body.plane ?? null,
      createdAt: at,
    };
    const builds = body.builds.map((build): Build => ({
      buildSetId: set.id,
      id: newId.uuid(),
      status: build.status,
      errors: build.errors ?? [],
      platform: build.platform,
      logs: null,
      releasedChannel: null,
      releasedRevision: null,
      createdAt: at,
      completedAt: isBuildOver(build.status) ? at : null,
      ...told(build),
    }));
    const entry = {
      ...by(call, 'add_buildset'),
      at,
      object: `${subject.namespace}/${subject.name}`,
      details: { id: set.id },
    };
    await records.change(entry, async (tx) => {
      await tx.buildSets.add(set);
      for (const [position, build] of builds.entries()) await tx.buildSets.putBuild(subject.id, position, build);
    });
    return presentBuildSet(set, builds, subject);
  },
});

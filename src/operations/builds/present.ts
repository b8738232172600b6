import type {
  Build as BuildShape,
  BuildSet as BuildSetShape,
  Channel as ChannelShape,
  CommitWorkflow as WorkflowShape,
} from '#contract/wire.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import type { Build, BuildSet } from '#records/builds/build-sets.ts';
import type { CommitWorkflow } from '#records/builds/commit-workflows.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';

export const presentBuildSet = (set: BuildSet, builds: Build[], subject: PublishedPackage): BuildSetShape => ({
  id: set.id,
  'created-at': set.createdAt,
  package: {
    name: subject.name,
    id: subject.id,
    type: subject.type,
    'commit-hash': set.commitHash,
    'craft-channel': channelOf(set.craftChannel),
    'craft-revision': set.craftRevision,
    'craft-version': set.craftVersion,
  },
  platforms: set.platforms,
  triggers: set.triggers,
  builds: builds.map(presentBuild),
});

export const presentBuild = (build: Build): BuildShape => ({
  id: build.id,
  status: build.status,
  errors: build.errors,
  'created-at': build.createdAt,
  'completed-at': build.completedAt,
  platform: build.platform,
  'binary-release':
    build.releasedChannel === null || build.releasedRevision === null
      ? null
      : { channel: channelOf(build.releasedChannel), revision: build.releasedRevision },
  logs: build.logs && { 'external-build-url': build.logs.externalBuildUrl },
});

export const presentCommitWorkflow = (workflow: CommitWorkflow): WorkflowShape => ({
  id: workflow.id,
  'commit-hash': workflow.commitHash,
  'craft-revision': workflow.craftRevision,
  'craft-channel': channelOf(workflow.craftChannel),
  buildsets: workflow.buildSets.map((id) => ({ id })),
  status: workflow.status,
  errors: workflow.errors,
  'created-at': workflow.createdAt,
  'completed-at': workflow.completedAt,
});

function channelOf(name: string): ChannelShape {
  const channel = parseChannel(name);
  if (channel === undefined) throw new Error(`cannot present the channel '${name}': it is none`);
  const { track, risk, branch } = channel;
  return { name: channel.name, track, risk, branch };
}

// What build hosts write, and whether they may: their tokens hold package-manage-revisions, and their accounts have a
// part in the package.
import { unknownBuild, unknownWorkflow } from '#acts/builds.ts';
import { account, noPackage, nowhere, packageIn, partIn, type Access } from '#api/access.ts';
import type { Channel as ChannelShape, UpdateBuildRequest } from '#api/wire.ts';
import { parseChannel } from '#domain/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Principal } from '#domain/principal.ts';
import type { Build } from '#records/build-sets.ts';
import type { PublishedPackage } from '#records/packages.ts';

const permission = 'package-manage-revisions';

/** What a build host may write about, found by what its request names; to everybody else that does not exist. */
export interface BuildHostEvidence {
  principal: Principal;
  packageOfId(id: string): Promise<PublishedPackage>;
  /** By `namespace/name`. */
  packageNamed(text: string): Promise<PublishedPackage>;
  /** The package of a build set. */
  packageOfBuildSet(id: string): Promise<PublishedPackage>;
  /** The package of a commit workflow. */
  packageOfWorkflow(id: string): Promise<PublishedPackage>;
}

const holdsPermission = account('packages', permission);

export const buildHost: Access<BuildHostEvidence> = {
  ...holdsPermission,
  async admit(asked) {
    const { principal } = await holdsPermission.admit(asked);
    const { records } = asked;
    const writable = async (subject: PublishedPackage | undefined, unknown: Refusal): Promise<PublishedPackage> => {
      if (subject !== undefined && (await partIn(principal, subject, permission, records))) return subject;
      throw unknown;
    };
    const writableOf = async (kept: { packageId: string } | undefined, unknown: Refusal): Promise<PublishedPackage> =>
      writable(kept && (await records.packages.byId(kept.packageId)), unknown);
    return {
      principal,
      packageOfId: async (id) => writable(await records.packages.byId(id), unknownPackage(id)),
      async packageNamed(text) {
        const named = packageIn(text);
        if (named === undefined) throw noPackage(text);
        return writable(await records.packages.find(named.namespace, named.name), nowhere(named));
      },
      packageOfBuildSet: async (id) => writableOf(await records.buildSets.find(id), unknownBuild()),
      packageOfWorkflow: async (id) => writableOf(await records.commitWorkflows.find(id), unknownWorkflow()),
    };
  },
};

const unknownPackage = (id: string): Refusal =>
  new Refusal(
    'resource-not-found',
    `There is no package with the id '${id.slice(0, 64)}', or this account has no part in it.`,
  );

/** A channel as a build host wrote it: its name and its parts must agree. */
export function channelName(given: ChannelShape): string {
  const channel = parseChannel(given.name);
  const agrees = channel?.track === given.track && channel.risk === given.risk && channel.branch === given.branch;
  if (channel !== undefined && agrees) return channel.name;
  throw new Refusal(
    'api-error',
    `The channel '${given.name}' does not have the track, risk and branch that are named beside it.`,
  );
}

/** What a build host says of a build, in the words of the records. */
export function told(body: Pick<UpdateBuildRequest, 'logs' | 'binary-release'>): Partial<Build> {
  const { logs, 'binary-release': release } = body;
  return {
    ...(logs !== undefined && { logs: logs && { externalBuildUrl: logs['external-build-url'] } }),
    ...(release !== undefined && {
      releasedChannel: release && channelName(release.channel),
      releasedRevision: release && release.revision,
    }),
  };
}

// Access rules for build hosts: the token needs package-manage-revisions, and the account must be publisher or collaborator of the
// package.
import { unknownBuild, unknownWorkflow } from '#acts/builds.ts';
import { account, noPackage, nowhere, packageIn, partIn, type Access, type Asked } from '#api/access.ts';
import type { Channel as ChannelShape, UpdateBuildRequest } from '#api/wire.ts';
import { parseChannel } from '#domain/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Principal } from '#domain/principal.ts';
import type { Build } from '#records/build-sets.ts';
import type { PublishedPackage } from '#records/packages.ts';

const permission = 'package-manage-revisions';

/** Finds the package that a request names, if the build host may write about it; for other accounts it does not exist. */
export interface BuildHostEvidence {
  principal: Principal;
  packageOfId(id: string): Promise<PublishedPackage>;
  /** By `namespace/name`. */
  packageNamed(text: string): Promise<PublishedPackage>;
}

const holdsPermission = account('packages', permission);

/** Admits build hosts to operations that create a record; the body names the package. */
export const buildHost: Access<BuildHostEvidence> = {
  ...holdsPermission,
  async admit(asked) {
    const { principal } = await holdsPermission.admit(asked);
    const { records } = asked;
    return {
      principal,
      packageOfId: async (id) => writable(asked, principal, await records.packages.byId(id), unknownPackage(id)),
      async packageNamed(text) {
        const named = packageIn(text);
        if (named === undefined) throw noPackage(text);
        return writable(asked, principal, await records.packages.find(named.namespace, named.name), nowhere(named));
      },
    };
  },
};

/** The package of the existing record that the path names. */
interface ToldBefore {
  principal: Principal;
  package: PublishedPackage;
}

const hostOf = (
  find: (asked: Asked) => Promise<{ packageId: string } | undefined>,
  unknown: () => Refusal,
): Access<ToldBefore> => ({
  ...holdsPermission,
  async admit(asked) {
    const { principal } = await holdsPermission.admit(asked);
    const kept = await find(asked);
    const subject = kept && (await asked.records.packages.byId(kept.packageId));
    return { principal, package: await writable(asked, principal, subject, unknown()) };
  },
});

/** Admits build hosts of the package of the build set in the path; for other accounts the build set does not exist. */
export const hostOfBuildSet = hostOf(
  ({ records, params }) => records.buildSets.find(params['buildset_id'] ?? ''),
  unknownBuild,
);

/** Admits build hosts of the package of the commit workflow in the path; for other accounts the workflow does not exist. */
export const hostOfWorkflow = hostOf(
  ({ records, params }) => records.commitWorkflows.find(params['commit_workflow_id'] ?? ''),
  unknownWorkflow,
);

async function writable(
  { records }: Pick<Asked, 'records'>,
  principal: Principal,
  subject: PublishedPackage | undefined,
  unknown: Refusal,
): Promise<PublishedPackage> {
  if (subject !== undefined && (await partIn(principal, subject, permission, records))) return subject;
  throw unknown;
}

const unknownPackage = (id: string): Refusal =>
  new Refusal(
    'resource-not-found',
    `There is no package with the id '${id.slice(0, 64)}', or this account has no part in it.`,
  );

/** The name of a channel in a report; throws if the name and the parts disagree. */
export function channelName(given: ChannelShape): string {
  const channel = parseChannel(given.name);
  const agrees = channel?.track === given.track && channel.risk === given.risk && channel.branch === given.branch;
  if (channel !== undefined && agrees) return channel.name;
  throw new Refusal(
    'api-error',
    `The channel '${given.name}' does not have the track, risk and branch that are named beside it.`,
  );
}

/** Translates the report of a build host to members of the record. */
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

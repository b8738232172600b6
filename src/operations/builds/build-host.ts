// Access rules for build hosts: the token needs package-manage-revisions, and the account must be publisher or collaborator of the
// package.
import { unknownBuild, unknownWorkflow } from '#acts/builds/builds.ts';
import {
  account,
  invalidPackageRef,
  packageNotFound,
  parsePackageRef,
  mayActOnPackage,
  type Access,
  type AccessRequest,
} from '#access/access-rules.ts';
import type { Channel as ChannelShape, UpdateBuildRequest } from '#contract/wire.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import type { Build } from '#records/builds/build-sets.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';

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
  async admit(request) {
    const { principal } = await holdsPermission.admit(request);
    const { records } = request;
    return {
      principal,
      packageOfId: async (id) => writable(request, principal, await records.packages.byId(id), unknownPackage(id)),
      async packageNamed(text) {
        const packageName = parsePackageRef(text);
        if (packageName === undefined) throw invalidPackageRef(text);
        return writable(
          request,
          principal,
          await records.packages.find(packageName.namespace, packageName.name),
          packageNotFound(packageName),
        );
      },
    };
  },
};

/** The account of the build host, and the package of the build set or commit workflow in the path. */
interface BuildRecordEvidence {
  principal: Principal;
  package: PublishedPackage;
}

const hostOf = (
  find: (request: AccessRequest) => Promise<{ packageId: string } | undefined>,
  unknown: () => Refusal,
): Access<BuildRecordEvidence> => ({
  ...holdsPermission,
  async admit(request) {
    const { principal } = await holdsPermission.admit(request);
    const record = await find(request);
    const subject = record && (await request.records.packages.byId(record.packageId));
    return { principal, package: await writable(request, principal, subject, unknown()) };
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
  { records }: Pick<AccessRequest, 'records'>,
  principal: Principal,
  subject: PublishedPackage | undefined,
  unknown: Refusal,
): Promise<PublishedPackage> {
  if (subject !== undefined && (await mayActOnPackage(principal, subject, permission, records))) return subject;
  throw unknown;
}

const unknownPackage = (id: string): Refusal =>
  new Refusal(
    'resource-not-found',
    `There is no package with the id '${id.slice(0, 64)}', or this account has no part in it.`,
  );

/** The name of a channel in a report; throws if the name and the parts disagree. */
export function readChannelName(reported: ChannelShape): string {
  const channel = parseChannel(reported.name);
  const agrees =
    channel?.track === reported.track && channel.risk === reported.risk && channel.branch === reported.branch;
  if (channel !== undefined && agrees) return channel.name;
  throw new Refusal('api-error', `The channel '${reported.name}' does not match the given track, risk and branch.`);
}

/** Translates the report of a build host to members of the record. */
export function parseBuildReport(body: Pick<UpdateBuildRequest, 'logs' | 'binary-release'>): Partial<Build> {
  const { logs, 'binary-release': release } = body;
  return {
    ...(logs !== undefined && { logs: logs && { externalBuildUrl: logs['external-build-url'] } }),
    ...(release !== undefined && {
      releasedChannel: release && readChannelName(release.channel),
      releasedRevision: release && release.revision,
    }),
  };
}

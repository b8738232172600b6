// What build hosts write, and whether they may: their tokens hold package-manage-revisions, and their accounts have a
// part in the package.
import { account, nowhere, partIn } from '#api/access.ts';
import type { Channel as ChannelShape, UpdateBuildRequest } from '#api/wire.ts';
import { parseChannel } from '#domain/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Principal } from '#domain/principal.ts';
import type { Build } from '#records/build-sets.ts';
import type { Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';

const permission = 'package-manage-revisions';

export const buildHost = account('packages', permission);

/** The package, once it is found that the caller may write about it; to everybody else it does not exist. */
export async function writable(
  subject: PublishedPackage | undefined,
  principal: Principal,
  records: Records,
  named: string,
): Promise<PublishedPackage> {
  if (subject !== undefined && (await partIn(principal, subject, permission, records))) return subject;
  const slash = named.indexOf('/');
  throw nowhere({ namespace: named.slice(0, Math.max(0, slash)), name: named.slice(slash + 1) });
}

/** The package of a record that has been found; to whoever has no part in that, the record does not exist. */
export async function writableOf(
  record: { packageId: string },
  principal: Principal,
  records: Records,
  unknown: Refusal,
): Promise<PublishedPackage> {
  const subject = await records.packages.byId(record.packageId);
  try {
    return await writable(subject, principal, records, '');
  } catch (error) {
    throw error instanceof Refusal && error.code === 'resource-not-found' ? unknown : error;
  }
}

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

// Uploads: received files that a package claims as a new revision of itself or of a resource.
import type { Quota } from '#domain/accounts/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import { formatCount } from '#domain/quantities.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { FollowUp } from '#records/uploads/follow-ups.ts';
import type { ResourceRequest } from '#records/uploads/uploads.ts';
import { act, DoneAlready, type ActContext } from '../act.ts';
import { settleFollowUp } from './follow-ups.ts';
import { requireCurrentPackage } from '../packages/package.ts';
import { refuseBytesBeyond } from '../accounts/quotas.ts';
import { createResourceRequest, type ResourcePushRequest } from '../resources/resources.ts';

interface UploadPush {
  /** The upload's id. */
  upload: string;
  package: PublishedPackage;
  /** The id of the account that it is pushed for, if that is not the actor: a command on the host has no account. */
  pushedBy?: string;
  /** The quota of publishers without a quota of their own. */
  defaultQuota: Quota;
}

/** A follow-up for when the upload has become a revision. */
export type UploadFollowUp = Pick<FollowUp, 'kind' | 'name' | 'component' | 'onlyIfNewer'>;

const object = ({ package: { namespace, name } }: UploadPush): string => `${namespace}/${name}`;

export const pushRevision = act<UploadPush & { then?: readonly UploadFollowUp[] }, void>({
  name: 'push_revision',
  summary: 'Claim an upload as a new revision of a package, and start its review.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'devices get it only after it is released' },

  async perform(tx, push, doing) {
    const { upload: uploadId, then = [] } = push;
    const isNew = await claim(tx, push, doing);
    if (!isNew && (await areFollowUpsRecorded(tx, uploadId, then))) throw new DoneAlready(undefined);
    const { actor: wantedBy, sessionId = null, requestId = null, note } = doing;
    for (const followUp of then) await tx.afterReview.add({ ...followUp, uploadId, wantedBy, sessionId, requestId });
    if (then.length > 0) note({ then: then.map(({ kind, name }) => [kind, name]) });
  },
});

export const pushResource = act<UploadPush & ResourcePushRequest & { followUp?: FollowUp }, void>({
  name: 'push_resource',
  summary: 'Claim an upload as a new revision of a resource.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'devices get it with a release; juju fetches another revision only if its user names the number' },

  /** `followUp` is the follow-up that this push settles, if it was requested with an earlier upload. */
  async perform(tx, push, doing) {
    if (push.followUp !== undefined) await settleFollowUp(tx, push.followUp);
    doing.note({ resource: push.resource });
    const request = await createResourceRequest(tx, push);
    const isNew = await claim(tx, push, doing, { name: push.resource, request });
    if (!isNew && push.followUp === undefined) throw new DoneAlready(undefined);
  },
});

/** Whether a package has already pushed this upload in the same way, so that a retry is recognized. */
export const wasPushed = async (
  { uploads }: Pick<ChangeRecords, 'uploads'> | Pick<StoreRecords, 'uploads'>,
  { upload, package: subject, resource }: Pick<UploadPush, 'upload' | 'package'> & { resource?: string | undefined },
): Promise<boolean> => (await uploads.review(subject.id, upload))?.resource === (resource ?? null);

/** Whether all these follow-ups of the upload are recorded already. */
export async function areFollowUpsRecorded(
  { afterReview }: Pick<ChangeRecords, 'afterReview'> | Pick<StoreRecords, 'afterReview'>,
  upload: string,
  followUps: readonly UploadFollowUp[],
): Promise<boolean> {
  if (followUps.length === 0) return true;
  const recorded = await afterReview.of(upload);
  return followUps.every(({ kind, name }) =>
    recorded.some((followUp) => followUp.kind === kind && followUp.name === name),
  );
}

/** Claims an upload. Returns whether it was unclaimed; a retry finds it claimed. */
async function claim(
  tx: ChangeRecords,
  { upload: id, package: subject, pushedBy, defaultQuota }: UploadPush,
  { at, actor, note }: ActContext,
  resource?: { name: string; request: ResourceRequest },
): Promise<boolean> {
  note({ upload: id, ...(pushedBy !== undefined && { for: pushedBy }) });
  const sent = await tx.uploads.find(id);
  if (sent?.packageId === null) {
    const { publisherId } = await requireCurrentPackage(tx, subject);
    await refuseBytesBeyond(tx, { publisherId, defaultQuota, ...sent });
  }
  const claimed = { packageId: subject.id, pushedBy: pushedBy ?? actor, pushedAt: at, ...(resource && { resource }) };
  if (sent !== undefined && (await tx.uploads.claim(id, claimed))) {
    // Uploads are not logged before they are claimed, so this entry records where the file came from.
    const { address, receivedAt, size, sha3_384 } = sent;
    note({ from: address, 'received-at': receivedAt, size, 'sha3-384': sha3_384 });
    return true;
  }
  if (await wasPushed(tx, { upload: id, package: subject, resource: resource?.name })) return false;
  throw new Refusal('resource-not-found', await describeMissingUpload(tx, id));
}

/** Why there is no upload to push, with the reason of its removal if that is known. */
async function describeMissingUpload({ uploads }: Pick<ChangeRecords, 'uploads'>, id: string): Promise<string> {
  const removal = await uploads.removal(id);
  if (removal === undefined) return `There is no upload '${id}' to push. Send the file to /unscanned-upload/ first.`;
  return (
    `The upload '${id}' was deleted at ${removal.at}: no package had claimed it ${formatCount(removal.hours, 'hour')} after its ` +
    'client last sent anything (uploads.unclaimed_hours). Send the file to /unscanned-upload/ again.'
  );
}

// Uploads: received files that a package claims as a new revision of itself or of a resource.
import type { Quota } from '#domain/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Changes, Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Wish } from '#records/after-review.ts';
import type { ResourceRequest } from '#records/uploads.ts';
import { act, DoneAlready, type Doing } from './act.ts';
import { settleWish } from './after-review.ts';
import { latestOf } from './package.ts';
import { refuseBytesBeyond } from './quotas.ts';
import { resourceRequest, type WantedResource } from './resources.ts';

interface Push {
  /** The upload's id. */
  upload: string;
  package: PublishedPackage;
  /** The id of the account that it is pushed for, if that is not the actor: a command on the host has no account. */
  pushedBy?: string;
  /** The quota of publishers without a quota of their own. */
  everybody: Quota;
}

/** A follow-up for when the upload has become a revision. */
export type Wanted = Pick<Wish, 'kind' | 'name' | 'component' | 'onlyIfNewer'>;

const object = ({ package: { namespace, name } }: Push): string => `${namespace}/${name}`;

export const pushRevision = act<Push & { then?: readonly Wanted[] }, void>({
  name: 'push_revision',
  summary: 'Claim an upload as a new revision of a package, and have it reviewed.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'devices get nothing of it before it is released' },

  async perform(tx, wanted, doing) {
    const { upload: uploadId, then = [] } = wanted;
    const isNew = await claim(tx, wanted, doing);
    if (!isNew && (await isWanted(tx, uploadId, then))) throw new DoneAlready(undefined);
    const { actor: wantedBy, sessionId = null, requestId = null, note } = doing;
    for (const one of then) await tx.afterReview.add({ ...one, uploadId, wantedBy, sessionId, requestId });
    if (then.length > 0) note({ then: then.map(({ kind, name }) => [kind, name]) });
  },
});

export const pushResource = act<Push & WantedResource & { wish?: Wish }, void>({
  name: 'push_resource',
  summary: 'Claim an upload as a new revision of a resource.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'a release gives it to devices; juju fetches another one if its user names the number' },

  /** `wish` is the follow-up that this push settles, if it was requested with an earlier upload. */
  async perform(tx, wanted, doing) {
    if (wanted.wish !== undefined) await settleWish(tx, wanted.wish);
    doing.note({ resource: wanted.resource });
    const request = await resourceRequest(tx, wanted);
    const isNew = await claim(tx, wanted, doing, { name: wanted.resource, request });
    if (!isNew && wanted.wish === undefined) throw new DoneAlready(undefined);
  },
});

/** Whether a package has already pushed this upload in the same way, so that a retry is recognized. */
export const wasPushed = async (
  { uploads }: Pick<Changes, 'uploads'> | Pick<Records, 'uploads'>,
  { upload, package: subject, resource }: Pick<Push, 'upload' | 'package'> & { resource?: string | undefined },
): Promise<boolean> => (await uploads.review(subject.id, upload))?.resource === (resource ?? null);

/** Whether all these follow-ups of the upload are recorded already. */
export async function isWanted(
  { afterReview }: Pick<Changes, 'afterReview'> | Pick<Records, 'afterReview'>,
  upload: string,
  wanted: readonly Wanted[],
): Promise<boolean> {
  if (wanted.length === 0) return true;
  const known = await afterReview.of(upload);
  return wanted.every(({ kind, name }) => known.some((one) => one.kind === kind && one.name === name));
}

/** Claims an upload. Returns whether it was unclaimed; a retry finds it claimed. */
async function claim(
  tx: Changes,
  { upload: id, package: subject, pushedBy, everybody }: Push,
  { at, actor, note }: Doing,
  resource?: { name: string; request: ResourceRequest },
): Promise<boolean> {
  note({ upload: id, ...(pushedBy !== undefined && { for: pushedBy }) });
  const sent = await tx.uploads.find(id);
  if (sent?.packageId === null) {
    const { publisherId } = await latestOf(tx, subject);
    await refuseBytesBeyond(tx, { publisherId, everybody, ...sent });
  }
  const claimed = { packageId: subject.id, pushedBy: pushedBy ?? actor, pushedAt: at, ...(resource && { resource }) };
  if (sent !== undefined && (await tx.uploads.claim(id, claimed))) {
    // Uploads are not logged before they are claimed, so this entry records where the file came from.
    const { address, receivedAt, size, sha3_384 } = sent;
    note({ from: address, 'received-at': receivedAt, size, 'sha3-384': sha3_384 });
    return true;
  }
  if (await wasPushed(tx, { upload: id, package: subject, resource: resource?.name })) return false;
  throw new Refusal('resource-not-found', await whyNoUpload(tx, id));
}

/** Why there is no upload to push, with the reason of its removal if that is known. */
async function whyNoUpload({ uploads }: Pick<Changes, 'uploads'>, id: string): Promise<string> {
  const removal = await uploads.removal(id);
  if (removal === undefined) return `There is no upload '${id}' to push; send the file to /unscanned-upload/ first.`;
  return (
    `The upload '${id}' was deleted at ${removal.at}: no package had claimed it ${String(removal.hours)} hours after its ` +
    'client last sent anything (uploads.unclaimed_hours). Send the file to /unscanned-upload/ again.'
  );
}

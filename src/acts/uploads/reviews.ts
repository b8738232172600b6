// Reviews: approve or reject an upload that a package has claimed.
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Findings, Review, UploadReviewError } from '#records/uploads/uploads.ts';
import { act, type ActContext } from '../act.ts';
import { nextRevisionNumber, describeForeignNumber, describeForeignPublisher } from '../packages/imported-packages.ts';
import { addRevisionTo, type RevisionFindings } from '../revisions/new-revision.ts';

/** The upload of an act. */
export interface OfUpload {
  /** The upload's id. */
  upload: string;
  /** The package that claimed it. */
  package: Pick<PublishedPackage, 'namespace' | 'name'>;
}

/** An upload waits for the review by the store, or for the decision of a person on the findings. */
export type WaitsFor = 'review' | 'person';

/** An approved upload becomes a revision. One with the content of an existing revision is rejected with a reason. */
export type UploadReviewVerdict = { revision: number; resource?: string } | { rejected: string };

const object = ({ package: { namespace, name } }: OfUpload): string => `${namespace}/${name}`;

export const scanUpload = act({
  name: 'scan_upload',
  summary: 'Send an upload with its findings to review by a person.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'a person decides about the upload later' },

  async perform(tx, { upload: id, findings }: OfUpload & { findings: Findings }, { note }): Promise<void> {
    note({ upload: id });
    await waitingUpload(tx, id, 'review');
    await tx.uploads.scan(id, findings);
  },
});

export const approveUpload = act({
  name: 'approve_upload',
  summary: 'Make an upload the next revision of its package, or of a resource.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'the revision reaches no channel before it is released' },

  /** `findings` are those of the review. Without them, a person approves the recorded findings. */
  async perform(tx, { upload: id, findings }: OfUpload & { findings?: Findings }, doing): Promise<UploadReviewVerdict> {
    doing.note({ upload: id });
    const { upload, subject } = await waitingUpload(tx, id, findings === undefined ? 'person' : 'review');
    if (findings !== undefined && (await tx.packages.isReviewedByHand(subject.id))) {
      throw new Refusal('conflict', `The uploads of ${object({ upload: id, package: subject })} wait for a person.`);
    }
    const reviewFindings = findings ?? upload.findings;
    if (reviewFindings === null) throw new Error(`cannot approve ${id}: it has no findings`);
    const approved = { upload, subject, at: doing.at };
    const verdict =
      reviewFindings.kind === 'resource'
        ? await addResourceRevision(tx, approved, reviewFindings)
        : await addRevision(tx, approved, reviewFindings);
    doing.note({ ...verdict });
    return verdict;
  },
});

export const rejectUpload = act({
  name: 'reject_upload',
  summary: 'Reject an upload, with reasons for its publisher.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'its publisher may push the file again' },

  async perform(
    tx,
    { upload: id, waitsFor, errors }: OfUpload & { waitsFor: WaitsFor; errors: UploadReviewError[] },
    { note },
  ): Promise<void> {
    note({ upload: id, errors });
    await waitingUpload(tx, id, waitsFor);
    await tx.uploads.reject(id, errors);
  },
});

/** The reason of a person for a rejection, in the form of a review error. Refuses an empty or too long text. */
export function rejection(reason: string): UploadReviewError[] {
  const message = reason.trim();
  if (message !== '' && message.length <= 2000) return [{ code: 'review-error', message }];
  throw new Refusal('api-error', 'A reason of 1 to 2000 characters is required at /reason');
}

/** Returns an upload with its package. Refuses an upload that does not wait, or waits for something else. */
export async function waitingUpload(
  records: Pick<ChangeRecords, 'uploads' | 'packages'> | Pick<StoreRecords, 'uploads' | 'packages'>,
  id: string,
  waitsFor: WaitsFor,
): Promise<{ upload: Review; subject: PublishedPackage }> {
  const upload = await records.uploads.claimed(id);
  const subject = upload && (await records.packages.byId(upload.packageId));
  if (upload === undefined || subject === undefined) {
    throw new Refusal(
      'resource-not-found',
      `There is no upload '${id}'. List the waiting uploads with 'larder review list'.`,
    );
  }
  if (upload.status === (waitsFor === 'review' ? 'new' : 'scanned')) return { upload, subject };
  const awaited = waitsFor === 'review' ? 'its review' : 'a person';
  throw new Refusal('conflict', `The upload '${id}' does not wait for ${awaited}: ${stateOf(upload)}.`);
}

const stateOf = ({ status, revision }: Review): string =>
  ({
    new: 'the store has not reviewed it yet',
    scanned: 'it waits for a person',
    approved: `it is approved as revision ${String(revision)}`,
    rejected: 'it is rejected',
  })[status];

interface ApprovedUpload extends Pick<ActContext, 'at'> {
  upload: Review;
  subject: PublishedPackage;
}

async function addRevision(
  tx: ChangeRecords,
  { upload, subject, at }: ApprovedUpload,
  findings: RevisionFindings,
): Promise<UploadReviewVerdict> {
  const twin = await tx.revisions.withContent(subject.id, upload.sha3_384);
  if (twin !== undefined && twin.deletedAt !== null) {
    await tx.revisions.setDeleted(subject.id, [twin.revision], undefined);
    await tx.uploads.approve(upload.id, twin.revision);
    return { revision: twin.revision };
  }
  if (twin !== undefined) {
    await tx.uploads.reject(upload.id, [
      {
        code: 'review-error',
        message: `Cannot insert package. An upload with that digest (SHA3-384: '${upload.sha3_384}') already exists in the database, as revision ${twin.revision}.${describeWithdrawal(twin)}`,
      },
    ]);
    return { rejected: `same content as revision ${twin.revision}` };
  }
  const elsewhere = await describeForeignPublisher(tx, subject, findings);
  if (elsewhere !== undefined) {
    await tx.uploads.reject(upload.id, [{ code: 'review-error', message: elsewhere }]);
    return { rejected: 'published in another store' };
  }
  const numbered = await describeForeignNumber(tx, subject, upload.sha3_384, findings);
  if (numbered !== undefined) {
    await tx.uploads.reject(upload.id, [{ code: 'review-error', message: numbered }]);
    return { rejected: 'has the number of an imported assertion' };
  }
  const revision = await nextRevisionNumber(tx, subject);
  const { sha3_384, sha256, size, pushedBy } = upload;
  await addRevisionTo(tx, subject, { revision, sha3_384, sha256, size, createdAt: at, createdBy: pushedBy }, findings);
  await tx.uploads.approve(upload.id, revision);
  return { revision };
}

/** A remark for a publisher who pushed the content of an existing revision again. */
const describeWithdrawal = ({ withdrawnBecause }: { withdrawnBecause: string | null }): string =>
  withdrawnBecause === null ? '' : ` It is withdrawn and can be restored: ${withdrawnBecause}`;

/** Content that exists already keeps its revision number; a deleted revision becomes available again. */
async function addResourceRevision(
  tx: ChangeRecords,
  { upload, subject, at }: ApprovedUpload,
  { sha384, sha512 }: Findings & { kind: 'resource' },
): Promise<UploadReviewVerdict> {
  const { resource: name, request, sha256, sha3_384, size } = upload;
  if (name === null || request === null)
    throw new Error(`cannot approve ${upload.id} as a resource: it was not pushed as one`);
  const twin = await tx.resourceRevisions.withContent(subject.id, name, sha3_384);
  const revision = twin?.revision ?? (await tx.resourceRevisions.newest(subject.id, name)) + 1;
  if (twin === undefined) {
    const content = { sha256, sha3_384, sha384, sha512, size };
    const created = { createdAt: at, createdBy: upload.pushedBy };
    await tx.resourceRevisions.add({ packageId: subject.id, name, revision, ...request, ...content, ...created });
  } else if (request.packageRevision !== null) {
    await tx.resourceRevisions.pair({ packageId: subject.id, name, revision }, request.packageRevision);
  }
  if (typeof twin?.deletedAt === 'string') {
    await tx.resourceRevisions.refuseDamaged(subject.id, name, revision);
    await tx.resourceRevisions.setDeleted(subject.id, name, revision, null);
  }
  await tx.uploads.approve(upload.id, revision);
  return { resource: name, revision };
}

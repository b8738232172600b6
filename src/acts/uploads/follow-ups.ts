// Follow-ups of an upload, for when it has become a revision. Each is done once, or refused with a reason that the
// publisher can read.
import { Refusal } from '#domain/refusal.ts';
import type { FollowUp } from '#records/uploads/follow-ups.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { UploadReviewError } from '#records/uploads/uploads.ts';
import { act } from '../act.ts';
import { packageObject } from '../packages/package.ts';

export const refuseFollowUp = act({
  name: 'refuse_follow_up',
  summary: 'Record why a follow-up of an upload failed, such as its release.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: { package: PublishedPackage; followUp: FollowUp; error: UploadReviewError }) =>
    packageObject(subject),
  gate: { never: 'it changes only the status of the upload' },

  async perform(
    tx,
    { followUp, error }: { package: PublishedPackage; followUp: FollowUp; error: UploadReviewError },
    { note },
  ): Promise<void> {
    const { uploadId, kind, name } = followUp;
    note({ upload: uploadId, [kind]: name, error });
    await settleFollowUp(tx, followUp, error);
  },
});

export const holdFollowUp = act({
  name: 'hold_follow_up',
  summary: 'Record which approval a follow-up of an upload waits for.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: { package: PublishedPackage; followUp: FollowUp; reason: UploadReviewError }) =>
    packageObject(subject),
  gate: { never: 'it changes only the status of the upload' },

  async perform(
    tx,
    { followUp, reason }: { package: PublishedPackage; followUp: FollowUp; reason: UploadReviewError },
    { note },
  ): Promise<void> {
    const { uploadId, kind, name } = followUp;
    note({ upload: uploadId, [kind]: name, why: reason });
    await tx.afterReview.hold(followUp, reason);
  },
});

/** Settles a follow-up in the transaction that carries it out. Refused if it was settled already. */
export async function settleFollowUp(
  { afterReview }: Pick<ChangeRecords, 'afterReview'>,
  followUp: FollowUp,
  error: UploadReviewError | null = null,
): Promise<void> {
  if (await afterReview.settle(followUp, error)) return;
  throw new Refusal('conflict', `The follow-up of the upload '${followUp.uploadId}' is settled already.`);
}

// Follow-ups of an upload, for when it has become a revision. Each is done once, or refused with a reason that the
// publisher can read.
import { Refusal } from '#domain/refusal.ts';
import type { Wish } from '#records/after-review.ts';
import type { Changes } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { ReviewError } from '#records/uploads.ts';
import { act } from './act.ts';
import { packageObject } from './package.ts';

export const refuseAfterReview = act({
  name: 'refuse_after_review',
  summary: 'Say why what was wanted of an upload was not done with the revision that came of it.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: { package: PublishedPackage; wish: Wish; error: ReviewError }) =>
    packageObject(subject),
  gate: { never: 'it changes nothing but what is told of the upload' },

  async perform(
    tx,
    { wish, error }: { package: PublishedPackage; wish: Wish; error: ReviewError },
    { note },
  ): Promise<void> {
    const { uploadId, kind, name } = wish;
    note({ upload: uploadId, [kind]: name, error });
    await settleWish(tx, wish, error);
  },
});

export const holdAfterReview = act({
  name: 'hold_after_review',
  summary: 'Say what is waited for before what was wanted of an upload is done with the revision that came of it.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }: { package: PublishedPackage; wish: Wish; why: ReviewError }) => packageObject(subject),
  gate: { never: 'it changes nothing but what is told of the upload' },

  async perform(
    tx,
    { wish, why }: { package: PublishedPackage; wish: Wish; why: ReviewError },
    { note },
  ): Promise<void> {
    const { uploadId, kind, name } = wish;
    note({ upload: uploadId, [kind]: name, why });
    await tx.afterReview.hold(wish, why);
  },
});

/** Settles a follow-up in the transaction that carries it out. Refused if it was settled already. */
export async function settleWish(
  { afterReview }: Pick<Changes, 'afterReview'>,
  wish: Wish,
  error: ReviewError | null = null,
): Promise<void> {
  if (await afterReview.settle(wish, error)) return;
  throw new Refusal('conflict', `What was wanted of the upload '${wish.uploadId}' is settled already.`);
}

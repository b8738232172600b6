import { operation } from '#http/operation.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { onSnapOfId } from '#access/snap-access.ts';
import type { DashboardUploadStatusResponse } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Review, UploadReviewError } from '#records/uploads/uploads.ts';

export const dashboardUploadStatus = operation({
  name: 'dashboard_upload_status',
  method: 'GET',
  path: '/dev/api/snaps/:snap_id/uploads/:upload_id/status',
  since: 0,
  summary:
    'Get the state of an upload and of its follow-up steps, for the older publishing tools, which ask every second.',
  // A token that can only push must be able to read the result.
  access: onSnapOfId(['package-view-revisions', 'package-manage-revisions']),
  errors: 'dashboard',
  response: 'DashboardUploadStatusResponse',

  async handle({ package: subject, params, records, config }) {
    const { upload_id: id } = params;
    const review = await records.uploads.review(subject.id, id);
    if (review === undefined) {
      throw new Refusal('resource-not-found', `'${subject.name}' has no upload '${id.slice(0, 64)}'.`);
    }
    return statusOf(review, records, `${config.http.base_url}/v1/snap/${subject.name}`);
  },
});

/** The path that the tools poll. */
export const statusUrl = ({ id }: Pick<PublishedPackage, 'id'>, upload: string): string =>
  `/dev/api/snaps/${id}/uploads/${encodeURIComponent(upload)}/status`;

/** The tools poll without limit until `processed` is true; the mere presence of `errors` means failure. */
async function statusOf(
  review: Review,
  records: Pick<HandlerRecords, 'afterReview' | 'uploads'>,
  url: string,
): Promise<DashboardUploadStatusResponse> {
  const failed = (code: 'processing_error' | 'need_manual_review', errors: UploadReviewError[]) =>
    ({ code, processed: true, can_release: code !== 'need_manual_review', url, errors }) as const;
  switch (review.status) {
    case 'new':
      return { code: 'being_processed', processed: false };
    case 'scanned':
      return failed('need_manual_review', [waitsForPerson('It')]);
    case 'rejected':
      return { ...failed('processing_error', review.errors ?? []), can_release: false };
    case 'approved':
  }
  const { waiting, errors } = await whatFollowed(review, records);
  if (waiting) return { code: 'being_processed', processed: false };
  const revision = review.revision ?? 0;
  if (errors.length === 0) return { code: 'ready_to_release', processed: true, can_release: true, revision, url };
  const reported = errors.map(({ code, message }) => ({
    code,
    message: `Revision ${revision} is there, but: ${message}`,
  }));
  return { ...failed('processing_error', reported), revision };
}

/** Whether follow-ups of the revision are pending, and the errors of failed follow-ups. */
async function whatFollowed(
  { id, packageId }: Review,
  { afterReview, uploads }: Pick<HandlerRecords, 'afterReview' | 'uploads'>,
): Promise<{ waiting: boolean; errors: UploadReviewError[] }> {
  const errors: UploadReviewError[] = [];
  let waiting = false;
  for (const { kind, name, component, settled, error } of await afterReview.of(id)) {
    if (error !== null) {
      errors.push({ code: error.code, message: `${words[kind](name)}: ${error.message}` });
      continue;
    }
    waiting ||= !settled;
    const review = kind === 'component' && settled ? await uploads.review(packageId, component ?? '') : undefined;
    waiting ||= review?.status === 'new';
    if (review?.status === 'scanned') errors.push(waitsForPerson(`Its component '${name}'`));
    if (review?.status === 'rejected') {
      const rejected = review.errors ?? [];
      errors.push(...rejected.map(({ code, message }) => ({ code, message: `${words[kind](name)}: ${message}` })));
    }
  }
  // A review by a person can take days, and later follow-ups wait for it: report it now.
  const isHeld = errors.some(({ code }) => code === heldCode);
  return { waiting: waiting && !isHeld, errors };
}

const words = {
  channel: (name: string): string => `it was not released to '${name}'`,
  component: (name: string): string => `the component '${name}' was not accepted`,
};

/** The code that clients treat as success. */
const heldCode = 'review-queued';

const waitsForPerson = (subject: string): UploadReviewError => ({
  code: heldCode,
  message: `${subject} is stored and waits for a person to approve it. It becomes a revision then.`,
});

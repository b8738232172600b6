import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import { presentReview } from './present.ts';

const newest = 100;

export const listUploadReviews = operation({
  name: 'list_upload_reviews',
  method: 'GET',
  path: '/v1/:namespace/:name/revisions/review',
  since: 1,
  summary: "List the states of the reviews of a package's uploads.",
  // A token that can only push must be able to read the result.
  access: onPackage('package-view-revisions', { permission: 'package-manage-revisions', when: 'upload-id' }),
  query: 'ListUploadReviewsQuery',
  response: 'ListUploadReviewsResponse',

  async handle({ package: subject, query, records }) {
    const id = query['upload-id'];
    if (id === undefined) return { revisions: (await records.uploads.reviews(subject.id, newest)).map(presentReview) };
    const review = await records.uploads.review(subject.id, id);
    if (review === undefined) throw new Refusal('resource-not-found', `'${subject.name}' has no upload '${id}'.`);
    return { revisions: [presentReview(review)] };
  },
});

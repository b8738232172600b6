// larder review approve
import { approveUpload, waitingUpload } from '#acts/uploads/reviews.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const reviewApprove = command({
  name: 'review approve',
  summary: 'Approve an upload that waits for a person: it becomes a revision.',
  positionals: [{ name: 'upload', value: 'UPLOAD-ID', summary: "The upload, as 'larder review list' shows it." }],
  examples: ['larder review approve 0c7d5d4e-6d0f-4f0a-9d0e-0d6f6f5f8a11'],

  run: ({ positionals: { upload }, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person }) => {
      const { subject } = await waitingUpload(records, upload, 'person');
      const verdict = await acts.do(approveUpload, person, { upload, package: subject });
      const object = `${subject.namespace}/${subject.name}`;
      const text =
        'rejected' in verdict
          ? `Rejected: it has the ${verdict.rejected}.`
          : `Approved as revision ${verdict.revision} of ${object}.`;
      return { text, json: { 'upload-id': upload, package: object, ...verdict } };
    }),
});

// larder review reject
import { rejectUpload, waitingUpload } from '#acts/uploads/reviews.ts';
import { command, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';

export const reviewReject = command({
  name: 'review reject',
  summary: 'Reject an upload that waits for a person, with a sentence for its publisher.',
  positionals: [{ name: 'upload', value: 'UPLOAD-ID', summary: "The upload, as 'larder review list' shows it." }],
  options: {
    reason: { type: 'string', value: 'TEXT', summary: 'The reason: a sentence for the publisher.', required: true },
  },
  examples: ["larder review reject 0c7d5d4e-6d0f-4f0a-9d0e-0d6f6f5f8a11 --reason 'It holds a private key.'"],

  run({ positionals: { upload }, options, data, world }) {
    const reason = options.reason.trim();
    if (reason === '' || reason.length > 2000)
      throw new UsageError('--reason is a sentence of at most 2000 characters');
    return withStore({ data, world }, async ({ records, acts, person }) => {
      const { subject } = await waitingUpload(records, upload, 'person');
      const errors = [{ code: 'review-error', message: reason }];
      await acts.do(rejectUpload, person, { upload, package: subject, waitsFor: 'person', errors });
      const object = `${subject.namespace}/${subject.name}`;
      return {
        text: `Rejected: the publisher of ${object} is told so.`,
        json: { 'upload-id': upload, package: object, reason },
      };
    });
  },
});

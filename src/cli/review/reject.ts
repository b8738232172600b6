// larder review reject
import { command, UsageError } from '../frame/command.ts';
import { waitingUpload } from './named.ts';
import { withStore } from '../frame/store.ts';

export const reviewReject = command({
  name: 'review reject',
  summary: 'Reject an upload that waits for a person, with a sentence for its publisher.',
  positionals: [{ name: 'upload', value: 'UPLOAD-ID', summary: "The upload, as 'larder review list' shows it." }],
  options: { reason: { type: 'string', value: 'TEXT', summary: 'What is wrong with it.', required: true } },
  examples: ["larder review reject 0c7d5d4e-6d0f-4f0a-9d0e-0d6f6f5f8a11 --reason 'It holds a private key.'"],

  run({ positionals, options, data, world }) {
    const reason = options.reason.trim();
    if (reason === '' || reason.length > 2000)
      throw new UsageError('--reason is a sentence of at most 2000 characters');
    return withStore({ data, world }, async ({ records, entry }) => {
      const { subject } = await waitingUpload(records, positionals.upload);
      const object = `${subject.namespace}/${subject.name}`;
      const change = { ...entry('review reject', object), details: { upload: positionals.upload, reason } };
      await records.change(change, async (tx) => {
        const { upload } = await waitingUpload(tx, positionals.upload);
        await tx.uploads.reject(upload.id, [{ code: 'review-error', message: reason }]);
      });
      return {
        text: `Rejected: the publisher of ${object} is told so.`,
        json: { 'upload-id': positionals.upload, package: object, reason },
      };
    });
  },
});

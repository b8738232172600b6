// larder review approve
import { approveUpload } from '#jobs/approve-upload.ts';
import { command } from '../frame/command.ts';
import { waitingUpload } from './named.ts';
import { withStore } from '../frame/store.ts';

export const reviewApprove = command({
  name: 'review approve',
  summary: 'Approve an upload that waits for a person: it becomes a revision.',
  positionals: [{ name: 'upload', value: 'UPLOAD-ID', summary: "The upload, as 'larder review list' shows it." }],
  examples: ['larder review approve 0c7d5d4e-6d0f-4f0a-9d0e-0d6f6f5f8a11'],

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records, entry }) => {
      const { subject } = await waitingUpload(records, positionals.upload);
      const object = `${subject.namespace}/${subject.name}`;
      const change = { ...entry('review approve', object), details: { upload: positionals.upload } };
      const became = await records.change(change, async (tx, note) => {
        // Read again within the change: two people may be at it at once.
        const waiting = await waitingUpload(tx, positionals.upload);
        const details = await approveUpload(tx, { ...waiting, at: change.at });
        note(details);
        return details;
      });
      const { revision, rejected } = became as { revision?: number; rejected?: string };
      const text =
        revision === undefined ? `Rejected: it has the ${rejected}.` : `Approved as revision ${revision} of ${object}.`;
      return { text, json: { 'upload-id': positionals.upload, package: object, ...became } };
    }),
});

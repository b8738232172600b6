// Receives the files of transfers from browsers.
import { Refusal } from '#domain/refusal.ts';
import { caller } from '#operations/caller.ts';
import { forgetUnclaimed } from '#operations/uploads/receive-unclaimed.ts';
import { isPartStart, startLength } from '#transfers/parts/members.ts';
import { declareMessages } from '../messages.ts';
import { declareFileUpload } from '../uploads/file-upload.ts';
import { addressOfTransfer } from './transfer-parts.ts';
import { transferUploadAddresses } from './upload-form.ts';

const withMessage = declareMessages({
  'transfer-received': 'The transfer is received.',
  'transfer-part-received': 'A part of the transfer is received. Upload the other parts to complete it.',
});

export const consoleTransferUpload = declareFileUpload({
  kind: 'transfer',
  file: 'a file of a transfer',
  addresses: transferUploadAddresses,
  refuses: ['conflict', 'sealed', 'shutting-down'],

  limit: ({ uploads }) => uploads.max_size,
  startLength,
  refuseStart(start) {
    if (start.length >= startLength && isPartStart(start)) return;
    throw new Refusal(
      'api-error',
      'The file is not a transfer. Choose a file that larder transfer make or larder transfer fetch has written.',
    );
  },

  /** Receives the transfer like `larder transfer receive`; its page is next. */
  async receive(call, uploads) {
    const { id, lacking } = await call.transfers.receiveUploads(uploads, caller(call));
    await forgetUnclaimed(call, uploads);
    return withMessage(addressOfTransfer(id), lacking.length === 0 ? 'transfer-received' : 'transfer-part-received');
  },
});

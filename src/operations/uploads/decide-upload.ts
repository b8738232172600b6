import { approveUpload as approve, rejectUpload as reject, rejection } from '#acts/uploads/reviews.ts';
import { operation } from '#http/operation.ts';
import { storeAdministratorOnUpload } from '#access/upload-access.ts';
import { caller } from '../caller.ts';

export const approveUpload = operation({
  name: 'approve_upload',
  method: 'POST',
  path: '/internal/v1/uploads/:upload_id/approve',
  since: 0,
  summary:
    'Approve an upload that waits for a person. It becomes a revision, or is rejected if its content exists already.',
  access: storeAdministratorOnUpload('store-manage'),
  response: 'JudgedUpload',
  refuses: ['conflict'],

  async handle(call) {
    const { acts, reviewSoon, signSoon } = call;
    const { upload, package: subject } = await call.uploadNamed();
    const verdict = await acts.do(approve, caller(call), { upload: upload.id, package: subject });
    // Perform the follow-ups and sign the revision now.
    reviewSoon();
    signSoon();
    const { namespace, name } = subject;
    const outcome =
      'rejected' in verdict
        ? { status: 'rejected' as const, revision: null }
        : { status: 'approved' as const, revision: verdict.revision };
    return { 'upload-id': upload.id, package: `${namespace}/${name}`, resource: upload.resource, ...outcome };
  },
});

export const rejectUpload = operation({
  name: 'reject_upload',
  method: 'POST',
  path: '/internal/v1/uploads/:upload_id/reject',
  since: 0,
  summary: 'Reject an upload that waits for a person, with a reason for its publisher.',
  access: storeAdministratorOnUpload('store-manage'),
  body: 'RejectUploadRequest',
  response: 'JudgedUpload',
  refuses: ['conflict'],

  async handle(call) {
    const { body, acts } = call;
    const { upload, package: subject } = await call.uploadNamed();
    const rejected = {
      upload: upload.id,
      package: subject,
      waitsFor: 'person' as const,
      errors: rejection(body.reason),
    };
    await acts.do(reject, caller(call), rejected);
    const { namespace, name } = subject;
    const of = { 'upload-id': upload.id, package: `${namespace}/${name}`, resource: upload.resource };
    return { ...of, status: 'rejected' as const, revision: null };
  },
});

import { onPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { by } from '../by.ts';
import { claimUpload, statusUrl } from './claim-upload.ts';

export const pushRevision = operation({
  name: 'push_revision',
  method: 'POST',
  path: '/v1/:namespace/:name/revisions',
  since: 1,
  summary: 'Push an upload as a new revision of a package, and have it reviewed.',
  access: onPackage('package-manage-revisions'),
  body: 'PushRevisionRequest',
  response: 'PushRevisionResponse',

  async handle(call) {
    const { package: subject, principal, body, records, now, reviewSoon } = call;
    const id = body['upload-id'];
    const at = timestamp(now());
    const entry = {
      ...by(call, 'push_revision'),
      at,
      object: `${subject.namespace}/${subject.name}`,
      details: { upload: id },
    };
    await claimUpload(records, entry, id, { packageId: subject.id, pushedBy: principal.accountId, pushedAt: at });
    reviewSoon();
    return { 'status-url': statusUrl(subject, id) };
  },
});

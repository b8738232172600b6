import { pushRevision as push, wasPushed } from '#acts/uploads/uploads.ts';
import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { caller } from '../caller.ts';
import { statusUrl } from './present.ts';

export const pushRevision = operation({
  name: 'push_revision',
  method: 'POST',
  path: '/v1/:namespace/:name/revisions',
  since: 1,
  summary: 'Push an upload as a new revision of a package. The store reviews it.',
  access: onPackage('package-manage-revisions'),
  body: 'PushRevisionRequest',
  response: 'PushRevisionResponse',
  refuses: ['forbidden'],

  async handle(call) {
    const { package: subject, body, records, acts, config, reviewSoon } = call;
    const input = { package: subject, upload: body['upload-id'], defaultQuota: readDefaultQuota(config.quotas) };
    if (!(await wasPushed(records, input))) await acts.do(push, caller(call), input);
    reviewSoon();
    return { 'status-url': statusUrl(subject, input.upload) };
  },
});

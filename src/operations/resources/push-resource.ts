import { createResourceRequest } from '#acts/resources/resources.ts';
import { pushResource as push, wasPushed } from '#acts/uploads/uploads.ts';
import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { caller } from '../caller.ts';
import { statusUrl } from '../revisions/present.ts';

export const pushResource = operation({
  name: 'push_resource',
  method: 'POST',
  path: '/v1/:namespace/:name/resources/:resource_name/revisions',
  since: 1,
  summary: 'Push an upload as a new revision of a resource.',
  access: onPackage('package-manage-revisions'),
  body: 'PushResourceRequest',
  response: 'PushResourceResponse',
  refuses: ['forbidden'],

  async handle(call) {
    const { package: subject, params, body, records, acts, config, reviewSoon } = call;
    const { 'upload-id': upload, type, bases, 'package-revision': revision } = body;
    const defaultQuota = readDefaultQuota(config.quotas);
    const input = { package: subject, resource: params.resource_name, upload, type, bases, revision, defaultQuota };
    // A retry is checked by the same rules, but changes nothing.
    if (await wasPushed(records, input)) await createResourceRequest(records, input);
    else await acts.do(push, caller(call), input);
    reviewSoon();
    return { 'status-url': statusUrl(subject, upload) };
  },
});

import { updateResourceRevisions as update } from '#acts/resources/resources.ts';
import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';

export const updateResourceRevisions = operation({
  name: 'update_resource_revisions',
  method: 'PATCH',
  path: '/v1/:namespace/:name/resources/:resource_name/revisions',
  since: 25,
  summary: 'Set the bases that revisions of a resource run on.',
  access: onPackage('package-manage-revisions'),
  body: 'UpdateResourceRevisionsRequest',
  response: 'UpdateResourceRevisionsResponse',

  async handle(call) {
    const { package: subject, params, body, acts } = call;
    const updates = body['resource-revision-updates'];
    await acts.do(update, caller(call), { package: subject, resource: params.resource_name, updates });
    return { 'num-resource-revisions-updated': updates.length };
  },
});

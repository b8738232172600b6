import { requireDeclaredResource } from '#acts/resources/resources.ts';
import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { presentResourceRevision } from './present.ts';

export const listResourceRevisions = operation({
  name: 'list_resource_revisions',
  method: 'GET',
  path: '/v1/:namespace/:name/resources/:resource_name/revisions',
  since: 1,
  summary: 'List the revisions of a resource, oldest first.',
  access: onPackage('package-view-revisions'),
  response: 'ListResourceRevisionsResponse',

  async handle({ package: subject, params, records }) {
    const revisions = await records.resourceRevisions.list(subject.id, params.resource_name);
    if (revisions.length === 0) await requireDeclaredResource(records, subject, params.resource_name);
    return { revisions: revisions.map(presentResourceRevision) };
  },
});

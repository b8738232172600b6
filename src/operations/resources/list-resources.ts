import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import { presentDeclaredResource } from './present.ts';

export const listResources = operation({
  name: 'list_resources',
  method: 'GET',
  path: '/v1/:namespace/:name/resources',
  since: 1,
  summary: 'List the resources that a revision of a package declares, by default the newest revision.',
  access: onPackage('package-view-revisions'),
  query: 'ListResourcesQuery',
  response: 'ListResourcesResponse',

  async handle({ package: subject, query, records }) {
    const revision = query.revision === undefined ? await records.revisions.newest(subject.id) : Number(query.revision);
    if (query.revision !== undefined && (await records.revisions.find(subject.id, revision)) === undefined) {
      throw new Refusal('resource-not-found', `'${subject.name}' has no revision ${revision}.`);
    }
    return { resources: (await records.resources.list(subject.id, revision)).map(presentDeclaredResource) };
  },
});

import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { membersIn, pick } from '../present.ts';
import { presentPackage } from './present.ts';

export const packageMetadata = operation({
  name: 'package_metadata',
  method: 'GET',
  path: '/v1/:namespace/:name',
  since: 1,
  summary: 'Get the metadata of a package.',
  access: onPackage('package-view-metadata'),
  query: 'PackageMetadataQuery',
  response: 'PackageMetadataResponse',

  async handle({ package: subject, query, records, config }) {
    const [tracks, guardrails] = [await records.tracks.list(subject.id), await records.guardrails.list(subject.id)];
    const store = { id: config.store.id, baseUrl: config.http.base_url };
    return { metadata: pick(presentPackage(subject, { tracks, guardrails }, store), membersIn(query.fields)) };
  },
});

import { updatePackageMetadata as act } from '#acts/package-metadata.ts';
import { onPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { caller } from '../by.ts';
import { readMetadataRequest } from './described.ts';
import { presentPackage } from './present.ts';

export const updatePackageMetadata = operation({
  name: 'update_package_metadata',
  method: 'PATCH',
  path: '/v1/:namespace/:name',
  since: 1,
  summary: 'Change what is said about a package.',
  access: onPackage('package-manage-metadata'),
  body: 'UpdatePackageMetadataRequest',
  response: 'PackageMetadataResponse',

  async handle(call) {
    const { package: subject, body, acts, config } = call;
    const description = { package: subject, members: Object.keys(body), changes: readMetadataRequest(body) };
    const { package: changed, tracks, guardrails } = await acts.do(act, caller(call), description);
    const store = { id: config.store.id, baseUrl: config.http.base_url };
    return { metadata: presentPackage(changed, { tracks, guardrails }, store) };
  },
});

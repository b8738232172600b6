import { updatePackageMetadata as act } from '#acts/packages/metadata.ts';
import { onPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { readMetadataRequest } from './metadata-request.ts';
import { presentPackage } from './present.ts';

export const updatePackageMetadata = operation({
  name: 'update_package_metadata',
  method: 'PATCH',
  path: '/v1/:namespace/:name',
  since: 1,
  summary: 'Change the metadata of a package.',
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

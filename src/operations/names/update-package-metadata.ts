import { updatePackageMetadata as act, type Description } from '#acts/package-metadata.ts';
import { onPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import type { UpdatePackageMetadataRequest } from '#api/wire.ts';
import { Refusal } from '#domain/refusal.ts';
import { caller } from '../by.ts';
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
    for (const flat of ['contact', 'website'] as const) {
      if (body.links !== undefined && body[flat] !== undefined) {
        throw new Refusal('api-error', `'links' must not be combined with '${flat}'; name it in 'links' alone.`);
      }
    }
    const description = { package: subject, members: Object.keys(body), given: described(body) };
    const { package: changed, tracks, guardrails } = await acts.do(act, caller(call), description);
    const store = { id: config.store.id, baseUrl: config.http.base_url };
    return { metadata: presentPackage(changed, { tracks, guardrails }, store) };
  },
});

/** What the request names; an empty text clears. */
const described = (body: UpdatePackageMetadataRequest): Description => ({
  ...(body.private !== undefined && { private: body.private }),
  ...(body.title !== undefined && { title: body.title || null }),
  ...(body.summary !== undefined && { summary: body.summary || null }),
  ...(body.description !== undefined && { description: body.description || null }),
  ...(body['default-track'] !== undefined && { defaultTrack: body['default-track'] }),
  links: {
    ...body.links,
    ...(body.contact !== undefined && { contact: body.contact === '' ? [] : [body.contact] }),
    ...(body.website !== undefined && { website: body.website === '' ? [] : [body.website] }),
  },
});

// Reads the metadata that a request sets on a package.
import type { MetadataChange } from '#acts/packages/metadata.ts';
import type { UpdatePackageMetadataRequest } from '#contract/wire.ts';
import { Refusal } from '#domain/refusal.ts';

/** The members that the request names; an empty text clears a member. */
export function readMetadataRequest(body: UpdatePackageMetadataRequest): MetadataChange {
  for (const flat of ['contact', 'website'] as const) {
    if (body.links !== undefined && body[flat] !== undefined) {
      throw new Refusal('api-error', `'links' must not be combined with '${flat}'. Use only 'links'.`);
    }
  }
  return {
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
  };
}

// The resources of charms as juju is told of them.
import type { HandlerRecords } from '#api/handler-records.ts';
import type { CharmResource } from '#api/wire.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { ResourceRevision } from '#records/resource-revisions.ts';
import type { RevisionDetails } from '#records/revisions.ts';

/** What a revision of a charm says of the resources that it declares. */
type Said = RevisionDetails['said'];

/**
 * A revision of a resource. What is fetched of an image is the small file that names it to a cluster: it was sent here once, is
 * kept as any other file, and so is the same for ever.
 */
export function presentResource(
  { packageId, name, revision, type, size, sha256, sha384 }: ResourceRevision,
  said: Said,
  baseUrl: string,
): CharmResource {
  const known = said?.resources ?? {};
  const { filename, description } = (Object.hasOwn(known, name) && known[name]) || { filename: '', description: '' };
  const url = `${baseUrl}/api/v1/resources/download/charm_${packageId}.${name}_${revision}`;
  return {
    name,
    type: type === 'oci-image' ? 'oci-image' : 'file',
    revision,
    filename,
    description,
    download: { url, size, 'hash-sha-256': sha256, 'hash-sha-384': sha384 },
  };
}

/** Which revision of which resource. */
export interface Pinned {
  name: string;
  revision: number;
}

/** The revisions of resources that are there, in the order in which they are named; `missing` names the first that is not. */
export async function resourcesAt(
  charm: PublishedPackage,
  pinned: readonly Pinned[],
  said: Said,
  { resourceRevisions, baseUrl }: { resourceRevisions: HandlerRecords['resourceRevisions']; baseUrl: string },
): Promise<{ found: CharmResource[]; missing: Pinned | undefined }> {
  const found: CharmResource[] = [];
  let missing: Pinned | undefined;
  for (const one of pinned) {
    const resource = await resourceRevisions.find(charm.id, one.name, one.revision);
    if (resource === undefined) missing ??= one;
    else found.push(presentResource(resource, said, baseUrl));
  }
  return { found, missing };
}

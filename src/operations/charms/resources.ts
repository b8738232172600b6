// Presents the resources of charms to juju.
import type { HandlerRecords } from '#api/handler-records.ts';
import type { CharmResource } from '#api/wire.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { ResourceRevision } from '#records/resource-revisions.ts';
import type { RevisionDetails } from '#records/revisions.ts';

/** The declarations of resources in a revision of a charm. */
type Said = RevisionDetails['said'];

/**
 * Presents a revision of a resource. For an image the download is the small file that tells a cluster where to pull it. It was
 * uploaded like any other file, and so never changes.
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

/** A revision of a resource. */
export interface Pinned {
  name: string;
  revision: number;
}

/** The existing revisions of resources, in the given order; `missing` is the first that does not exist. */
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

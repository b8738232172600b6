// Presents the resources of charms to juju.
import type { HandlerRecords } from '#http/handler-records.ts';
import type { CharmResource } from '#contract/wire.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { ResourceRevision } from '#records/resources/resource-revisions.ts';
import type { RevisionDetails } from '#records/revisions/revisions.ts';

/** The declarations of resources in a revision of a charm. */
type CharmDeclarations = RevisionDetails['said'];

/**
 * Presents a revision of a resource. For an image the download is the small file that tells a cluster where to pull it. It was
 * uploaded like any other file, and so never changes.
 */
export function presentResource(
  { packageId, name, revision, type, size, sha256, sha384 }: ResourceRevision,
  declarations: CharmDeclarations,
  baseUrl: string,
): CharmResource {
  const declared = declarations?.resources ?? {};
  const { filename, description } = (Object.hasOwn(declared, name) && declared[name]) || {
    filename: '',
    description: '',
  };
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
export interface CharmResourcePin {
  name: string;
  revision: number;
}

/** The existing revisions of resources, in the given order; `missing` is the first that does not exist. */
export async function findPinnedResources(
  charm: PublishedPackage,
  pinned: readonly CharmResourcePin[],
  declarations: CharmDeclarations,
  { resourceRevisions, baseUrl }: { resourceRevisions: HandlerRecords['resourceRevisions']; baseUrl: string },
): Promise<{ resources: CharmResource[]; missing: CharmResourcePin | undefined }> {
  const resources: CharmResource[] = [];
  let missing: CharmResourcePin | undefined;
  for (const pin of pinned) {
    const resource = await resourceRevisions.find(charm.id, pin.name, pin.revision);
    if (resource === undefined) missing ??= pin;
    else resources.push(presentResource(resource, declarations, baseUrl));
  }
  return { resources, missing };
}

// Images of resources: the manifests in the registry of the store that the revisions of a charm's resources name.
import { sql, type ReadQueries } from '#engine/database.ts';
import type { Repository } from '../images/images.ts';

/** A resource revision that names an image. */
export interface ResourceImage {
  resource: string;
  revision: number;
  /**
   * The sha256 of the manifests: several for an index, without attestations. Empty if its content was not read yet, or
   * names no image.
   */
  manifests: string[];
  /** Whether its content was read for the image that it names. */
  isRead: boolean;
}

export const resourceImages = (db: ReadQueries) => ({
  /** Lists the revisions of resources of a package that are images. */
  async ofPackage(packageId: string): Promise<ResourceImage[]> {
    const rows = await db.all<{
      resource: string;
      revision: number;
      content: string | null;
      manifest: string | null;
      child: string | null;
    }>(
      // The text is a member in the JSON of a bill: in a string, its quotes are escaped.
      sql`
      SELECT resource_revisions.name AS resource, revision, content, image_mentions.manifest, child
      FROM resource_revisions
      LEFT JOIN image_mentions ON content = sha3_384
      LEFT JOIN image_children ON image_children.package_id = resource_revisions.package_id
        AND image_children.resource = resource_revisions.name AND image_children.manifest = image_mentions.manifest
        AND NOT EXISTS (
          SELECT 1 FROM image_bills
          WHERE image_bills.package_id = image_children.package_id AND image_bills.resource = image_children.resource
            AND image_bills.manifest = child AND bill LIKE '%"about":"%')
      WHERE resource_revisions.package_id = ${packageId} AND type = 'oci-image' AND deleted_at IS NULL
      ORDER BY resource_revisions.name, revision, child`,
    );
    const images = new Map<string, ResourceImage>();
    for (const { resource, revision, content, manifest, child } of rows) {
      const key = `${resource} ${String(revision)}`;
      const image = images.get(key) ?? { resource, revision, manifests: [], isRead: content !== null };
      const digest = child ?? manifest;
      if (digest !== null) image.manifests.push(digest);
      images.set(key, image);
    }
    return [...images.values()];
  },

  /** Lists the manifests of an index, or the image itself. */
  manifestsOf: async ({ packageId, resource }: Repository, sha256: string): Promise<string[]> => {
    const children = await db.all<{ child: string }>(sql`
      SELECT child FROM image_children
      WHERE package_id = ${packageId} AND resource = ${resource} AND manifest = ${sha256} ORDER BY child`);
    return children.length === 0 ? [sha256] : children.map(({ child }) => child);
  },
});

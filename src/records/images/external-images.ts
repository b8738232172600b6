// Images in another registry. The store knows only that they exist.
import { sql, type Queries } from '#engine/database.ts';
import type { Repository } from './images.ts';

export const externalImages = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists the registries that have an image, the latest report first. */
  keepers: async ({ packageId, resource }: Repository, sha256: string): Promise<string[]> => {
    const rows = await db.all<{ registry: string }>(sql`
      SELECT registry FROM external_images
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 = ${sha256}
      ORDER BY told_at DESC, registry`);
    return rows.map(({ registry }) => registry);
  },

  /** Returns whether any image of this registry is known. */
  hasAnyOf: async (registry: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM external_images WHERE registry = ${registry} LIMIT 1`)),
});

export const externalImageChanges = (db: Queries) => ({
  ...externalImages(db),

  /** Records an image. Returns false if it was known. */
  add: async ({ packageId, resource }: Repository, image: { registry: string; sha256: string; at: string }) =>
    0 <
    (await db.run(sql`
      INSERT INTO external_images (package_id, resource, registry, sha256, told_at)
      VALUES (${packageId}, ${resource}, ${image.registry}, ${image.sha256}, ${image.at})
      ON CONFLICT DO NOTHING`)),
});

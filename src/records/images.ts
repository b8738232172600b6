// Images: the blobs, manifests and tags of each repository. A repository is an image resource of a package.
import { sql, type Queries } from './database.ts';

export interface Repository {
  packageId: string;
  resource: string;
}

/** Content that a repository knows by its sha256. */
export interface ImageBlob {
  sha256: string;
  sha3_384: string;
  size: number;
}

export interface ImageManifest extends ImageBlob {
  mediaType: string;
}

export const images = (db: Pick<Queries, 'get' | 'all'>) => ({
  blob: ({ packageId, resource }: Repository, sha256: string) =>
    db.get<ImageBlob>(sql`
      SELECT sha256, sha3_384, size FROM image_blobs
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 = ${sha256}`),

  /** Those of the blobs that the repository has. */
  blobs: ({ packageId, resource }: Repository, digests: string[]) =>
    db.all<ImageBlob>(sql`
      SELECT image_blobs.sha256, image_blobs.sha3_384, image_blobs.size
      FROM json_each(${JSON.stringify(digests)}) AS wanted
      CROSS JOIN image_blobs ON package_id = ${packageId} AND resource = ${resource} AND sha256 = wanted.value`),

  manifest: ({ packageId, resource }: Repository, sha256: string) =>
    db.get<ImageManifest>(sql`
      SELECT sha256, sha3_384, size, media_type AS "mediaType" FROM image_manifests
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 = ${sha256}`),

  /** Those of the manifests that the repository has. */
  manifests: ({ packageId, resource }: Repository, digests: string[]) =>
    db.all<ImageManifest>(sql`
      SELECT image_manifests.sha256, image_manifests.sha3_384, image_manifests.size, media_type AS "mediaType"
      FROM json_each(${JSON.stringify(digests)}) AS wanted
      CROSS JOIN image_manifests ON package_id = ${packageId} AND resource = ${resource} AND sha256 = wanted.value`),

  tagged: ({ packageId, resource }: Repository, tag: string) =>
    db.get<ImageManifest>(sql`
      SELECT image_manifests.sha256, image_manifests.sha3_384, image_manifests.size, media_type AS "mediaType"
      FROM image_tags
      JOIN image_manifests ON image_manifests.package_id = image_tags.package_id
        AND image_manifests.resource = image_tags.resource AND image_manifests.sha256 = image_tags.manifest
      WHERE image_tags.package_id = ${packageId} AND image_tags.resource = ${resource} AND tag = ${tag}`),

  /** The tags after one, in the order of their bytes. */
  async tags({ packageId, resource }: Repository, after: string, limit: number): Promise<string[]> {
    const rows = await db.all<{ tag: string }>(sql`
      SELECT tag FROM image_tags WHERE package_id = ${packageId} AND resource = ${resource} AND tag > ${after}
      ORDER BY tag LIMIT ${limit}`);
    return rows.map(({ tag }) => tag);
  },
  /** Whether there are blobs that came before a moment and became part of no image. */
  hasLoose: async (before: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM image_blobs
      WHERE pushed_at < ${before} AND NOT EXISTS (
        SELECT 1 FROM image_parts
        WHERE image_parts.package_id = image_blobs.package_id AND image_parts.resource = image_blobs.resource
          AND image_parts.sha256 = image_blobs.sha256)
      LIMIT 1`)),
});

export const imageChanges = (db: Queries) => ({
  ...images(db),

  /** Adds a blob; the time of one that is there already is renewed. */
  addBlob: ({ packageId, resource }: Repository, blob: ImageBlob, at: string) =>
    db.run(sql`
      INSERT INTO image_blobs (package_id, resource, sha256, sha3_384, size, pushed_at)
      VALUES (${packageId}, ${resource}, ${blob.sha256}, ${blob.sha3_384}, ${blob.size}, ${at})
      ON CONFLICT (package_id, resource, sha256) DO UPDATE SET pushed_at = excluded.pushed_at`),

  /** Adds a manifest with the blobs that it is made of; of one that is there already, the media type is renewed. */
  async addManifest(
    { packageId, resource }: Repository,
    manifest: ImageManifest,
    parts: string[],
    at: string,
  ): Promise<void> {
    await db.run(sql`
      INSERT INTO image_manifests (package_id, resource, sha256, sha3_384, size, media_type, pushed_at)
      VALUES (${packageId}, ${resource}, ${manifest.sha256}, ${manifest.sha3_384}, ${manifest.size},
        ${manifest.mediaType}, ${at})
      ON CONFLICT (package_id, resource, sha256) DO UPDATE SET media_type = excluded.media_type`);
    await db.run(sql`
      INSERT INTO image_parts (package_id, resource, sha256, manifest)
      SELECT ${packageId}, ${resource}, part.value, ${manifest.sha256}
      FROM json_each(${JSON.stringify(parts)}) AS part WHERE true
      ON CONFLICT DO NOTHING`);
  },

  tag: ({ packageId, resource }: Repository, tag: string, manifest: string, at: string) =>
    db.run(sql`
      INSERT INTO image_tags (package_id, resource, tag, manifest, tagged_at)
      VALUES (${packageId}, ${resource}, ${tag}, ${manifest}, ${at})
      ON CONFLICT (package_id, resource, tag) DO UPDATE SET manifest = excluded.manifest, tagged_at = excluded.tagged_at`),

  /** Forgets blobs that came before a moment and became part of no image; how many. */
  forgetLoose: (before: string) =>
    db.run(sql`
      DELETE FROM image_blobs
      WHERE pushed_at < ${before} AND NOT EXISTS (
        SELECT 1 FROM image_parts
        WHERE image_parts.package_id = image_blobs.package_id AND image_parts.resource = image_blobs.resource
          AND image_parts.sha256 = image_blobs.sha256)`),
});

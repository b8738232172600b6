// Images: the blobs, manifests and tags of each repository. A repository is an image resource of a package.
import { columns, list, sql, type Queries, type ReadQueries } from '#engine/database.ts';

export interface Repository {
  packageId: string;
  resource: string;
}

/** A blob of a repository, by its sha256, and by its sha512 if a client has used that. */
export interface ImageBlob {
  sha256: string;
  sha512: string | null;
  sha3_384: string;
  size: number;
}

export interface ImageManifest extends ImageBlob {
  mediaType: string;
}

/** The references of a manifest. */
export interface ImageReferences {
  /** The blobs of the image, by their sha256. */
  parts: string[];
  /** The manifests that an index lists; undefined if the manifest is not an index. */
  children?: string[] | undefined;
  /** The subject that a referrer is about, with its type and annotations. */
  about?: { subject: string; artifactType: string; annotations: Record<string, string> | undefined } | undefined;
}

/** A manifest that refers to another one as its subject. */
export interface ImageReferrer {
  sha256: string;
  sha512: string | null;
  size: number;
  mediaType: string;
  /** Empty if there is none. */
  artifactType: string;
  annotations: Record<string, string> | undefined;
}

/** A manifest of a repository. */
export interface StoredManifest extends Repository {
  sha256: string;
  sha3_384: string;
}

const manifestColumns = columns`
  image_manifests.sha256, image_manifests.sha512, image_manifests.sha3_384, image_manifests.size,
  media_type AS "mediaType"`;

const blobColumns = columns`sha256, sha512, sha3_384, size`;

/** The columns of a `StoredManifest`. */
export const storedColumns = columns`package_id AS "packageId", resource, sha256, sha3_384`;

/** A `digest` is a sha256 or sha512 in hexadecimal; the length tells which. */
export const images = (db: ReadQueries) => ({
  blob: ({ packageId, resource }: Repository, digest: string) =>
    db.get<ImageBlob>(sql`
      SELECT ${blobColumns} FROM image_blobs
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 = ${digest}
      UNION ALL
      SELECT ${blobColumns} FROM image_blobs
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha512 = ${digest}`),

  /** Returns the blobs that the repository has. */
  blobs: ({ packageId, resource }: Repository, digests: string[]) =>
    db.all<ImageBlob>(sql`
      SELECT ${blobColumns}
      FROM image_blobs
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 IN ${list(digests)}
      UNION ALL
      SELECT ${blobColumns}
      FROM image_blobs
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha512 IN ${list(digests)}`),

  manifest: ({ packageId, resource }: Repository, digest: string) =>
    db.get<ImageManifest & { pushedAt: string }>(sql`
      SELECT ${manifestColumns}, pushed_at AS "pushedAt" FROM image_manifests
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 = ${digest}
      UNION ALL
      SELECT ${manifestColumns}, pushed_at FROM image_manifests
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha512 = ${digest}`),

  /** Returns everything that belongs to these manifests: manifests of indexes, referrers, and all their blobs. */
  async reachedFrom(
    { packageId, resource }: Repository,
    roots: readonly string[],
  ): Promise<{ manifests: ImageManifest[]; blobs: ImageBlob[] }> {
    const manifests = await db.all<ImageManifest>(sql`
      WITH RECURSIVE reached (manifest) AS (
        SELECT sha256 FROM image_manifests
        WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 IN ${list(roots)}
        UNION
        SELECT coalesce(child, image_referrers.manifest)
        FROM reached
        CROSS JOIN (SELECT 0 AS way UNION ALL SELECT 1) AS ways
        LEFT JOIN image_children ON way = 0 AND image_children.package_id = ${packageId}
          AND image_children.resource = ${resource} AND image_children.manifest = reached.manifest
        LEFT JOIN image_referrers ON way = 1 AND image_referrers.package_id = ${packageId}
          AND image_referrers.resource = ${resource} AND subject = reached.manifest
        WHERE child IS NOT NULL OR image_referrers.manifest IS NOT NULL
      )
      SELECT ${manifestColumns} FROM image_manifests
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 IN (SELECT manifest FROM reached)
      ORDER BY sha256`);
    const blobs = await db.all<ImageBlob>(sql`
      SELECT ${blobColumns} FROM image_blobs
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 IN (
        SELECT sha256 FROM image_parts
        WHERE package_id = ${packageId} AND resource = ${resource}
          AND manifest IN ${list(manifests.map(({ sha256 }) => sha256))})
      ORDER BY sha256`);
    return { manifests, blobs };
  },

  /** Lists the tags of these manifests. */
  tagsOf: ({ packageId, resource }: Repository, manifests: readonly string[]) =>
    db.all<{ tag: string; manifest: string }>(sql`
      SELECT tag, manifest FROM image_tags
      WHERE package_id = ${packageId} AND resource = ${resource} AND manifest IN ${list(manifests)} ORDER BY tag`),

  /** Lists the manifests that these contents of resources name. */
  namedBy: async (contents: readonly string[]): Promise<string[]> =>
    (
      await db.all<{ manifest: string }>(sql`
        SELECT DISTINCT manifest FROM image_mentions
        WHERE content IN ${list(contents)} AND manifest IS NOT NULL ORDER BY manifest`)
    ).map(({ manifest }) => manifest),

  /** Returns whether the record of a manifest, by its sha256, is corrupt. */
  isDamaged: ({ packageId, resource }: Repository, sha256: string) =>
    db.isDamaged('image_manifests', { package_id: packageId, resource, sha256 }),

  /** Returns the manifests with these digests, as far as the repository has them. */
  manifests: ({ packageId, resource }: Repository, digests: string[]) =>
    db.all<ImageManifest>(sql`
      SELECT ${manifestColumns}
      FROM image_manifests
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 IN ${list(digests)}
      UNION ALL
      SELECT ${manifestColumns}
      FROM image_manifests
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha512 IN ${list(digests)}`),

  tagged: ({ packageId, resource }: Repository, tag: string) =>
    db.get<ImageManifest>(sql`
      SELECT ${manifestColumns}
      FROM image_tags
      JOIN image_manifests ON image_manifests.package_id = image_tags.package_id
        AND image_manifests.resource = image_tags.resource AND image_manifests.sha256 = image_tags.manifest
      WHERE image_tags.package_id = ${packageId} AND image_tags.resource = ${resource} AND tag = ${tag}`),

  /** Lists the tags in byte order, beginning after `after`. */
  async tags({ packageId, resource }: Repository, after: string, limit: number): Promise<string[]> {
    const rows = await db.all<{ tag: string }>(sql`
      SELECT tag FROM image_tags WHERE package_id = ${packageId} AND resource = ${resource} AND tag > ${after}
      ORDER BY tag LIMIT ${limit}`);
    return rows.map(({ tag }) => tag);
  },

  /** Lists the referrers of a manifest, beginning after `after`, optionally only those of one artifact type. */
  async referrers(
    { packageId, resource }: Repository,
    subject: string,
    { type, after, limit }: { type: string | undefined; after: string; limit: number },
  ): Promise<ImageReferrer[]> {
    const rows = await db.all<Omit<ImageReferrer, 'annotations'> & { annotations: string | null }>(sql`
      SELECT image_manifests.sha256, image_manifests.sha512, image_manifests.size, media_type AS "mediaType",
        artifact_type AS "artifactType", annotations
      FROM image_referrers
      JOIN image_manifests ON image_manifests.package_id = image_referrers.package_id
        AND image_manifests.resource = image_referrers.resource AND image_manifests.sha256 = image_referrers.manifest
      WHERE image_referrers.package_id = ${packageId} AND image_referrers.resource = ${resource}
        AND subject = ${subject} AND manifest > ${after}
        AND artifact_type = COALESCE(${type ?? null}, artifact_type)
      ORDER BY manifest LIMIT ${limit}`);
    return rows.map((row) => ({
      ...row,
      annotations: (JSON.parse(row.annotations ?? 'null') as Record<string, string> | null) ?? undefined,
    }));
  },

  /** Lists contents of resources, published or under review, that have not yet been read for the image that they name. */
  unreadContents: (limit: number) =>
    db.all<{ sha3_384: string; size: number }>(sql`
      SELECT sha3_384, size FROM resource_revisions
      WHERE type = 'oci-image'
        AND NOT EXISTS (SELECT 1 FROM image_mentions WHERE content = resource_revisions.sha3_384)
      UNION ALL
      SELECT sha3_384, size FROM uploads
      WHERE status IN ('new', 'scanned') AND resource IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM image_mentions WHERE content = uploads.sha3_384)
      LIMIT ${limit}`),

  /** Lists indexes without recorded manifests: they were pushed before the store recorded the manifests of an index. */
  unreadIndexes: (limit: number) =>
    db.all<StoredManifest>(sql`
      SELECT ${storedColumns} FROM image_manifests
      WHERE media_type IN ('application/vnd.oci.image.index.v1+json', 'application/vnd.docker.distribution.manifest.list.v2+json')
        AND NOT EXISTS (
          SELECT 1 FROM image_children
          WHERE image_children.package_id = image_manifests.package_id AND image_children.resource = image_manifests.resource
            AND image_children.manifest = image_manifests.sha256)
      LIMIT ${limit}`),

  /**
   * Lists manifests that are no longer needed and were last used before `before`. A manifest is needed if it has a tag, if a resource that
   * is published or under review names it, or if a needed manifest refers to it.
   */
  unwanted: (before: string, limit: number) =>
    db.all<StoredManifest>(sql`
      WITH RECURSIVE candidates (package_id, resource, manifest, keeper) AS (
        SELECT package_id, resource, sha256, sha256 FROM image_manifests WHERE pushed_at < ${before}
        UNION
        SELECT candidates.package_id, candidates.resource, candidates.manifest,
          coalesce(image_children.manifest, image_referrers.subject)
        FROM candidates
        CROSS JOIN (SELECT 0 AS way UNION ALL SELECT 1) AS ways
        LEFT JOIN image_children ON way = 0 AND image_children.package_id = candidates.package_id
          AND image_children.resource = candidates.resource AND image_children.child = candidates.keeper
        LEFT JOIN image_referrers ON way = 1 AND image_referrers.package_id = candidates.package_id
          AND image_referrers.resource = candidates.resource AND image_referrers.manifest = candidates.keeper
        WHERE image_children.manifest IS NOT NULL OR image_referrers.subject IS NOT NULL
      )
      SELECT ${storedColumns} FROM image_manifests
      WHERE pushed_at < ${before} AND (package_id, resource, sha256) NOT IN (
        SELECT candidates.package_id, candidates.resource, candidates.manifest FROM candidates
        CROSS JOIN image_manifests AS keeper
        WHERE keeper.package_id = candidates.package_id AND keeper.resource = candidates.resource
          AND keeper.sha256 = candidates.keeper AND (
            keeper.pushed_at >= ${before}
            OR EXISTS (
              SELECT 1 FROM image_tags
              WHERE image_tags.package_id = keeper.package_id AND image_tags.resource = keeper.resource
                AND image_tags.manifest = keeper.sha256)
            OR EXISTS (
              SELECT 1 FROM image_mentions
              WHERE image_mentions.manifest = keeper.sha256 AND (
                EXISTS (
                  SELECT 1 FROM resource_revisions
                  WHERE resource_revisions.type = 'oci-image' AND resource_revisions.sha3_384 = image_mentions.content)
                OR EXISTS (
                  SELECT 1 FROM uploads
                  WHERE uploads.sha3_384 = image_mentions.content AND uploads.status IN ('new', 'scanned'))))))
      LIMIT ${limit}`),

  /** Returns whether a resource, published or under review, names an image or an index that leads to it. */
  isNamed: async ({ packageId, resource }: Repository, sha256: string) =>
    undefined !==
    (await db.get(sql`
      WITH RECURSIVE keepers (manifest) AS (
        SELECT ${sha256}
        UNION
        SELECT image_children.manifest FROM keepers
        CROSS JOIN image_children
        WHERE package_id = ${packageId} AND resource = ${resource} AND child = keepers.manifest
      )
      SELECT 1 FROM keepers
      CROSS JOIN image_mentions
      WHERE image_mentions.manifest = keepers.manifest AND (
        EXISTS (
          SELECT 1 FROM resource_revisions
          WHERE resource_revisions.type = 'oci-image' AND resource_revisions.sha3_384 = image_mentions.content)
        OR EXISTS (
          SELECT 1 FROM uploads
          WHERE uploads.sha3_384 = image_mentions.content AND uploads.status IN ('new', 'scanned')))
      LIMIT 1`)),

  /** Returns another index of the repository that lists a manifest. */
  indexOf: ({ packageId, resource }: Repository, sha256: string) =>
    db.get<{ sha256: string }>(sql`
      SELECT manifest AS sha256 FROM image_children
      WHERE package_id = ${packageId} AND resource = ${resource} AND child = ${sha256} AND manifest <> ${sha256} LIMIT 1`),

  /** Returns an image of the repository that contains a blob. */
  imageOf: ({ packageId, resource }: Repository, sha256: string) =>
    db.get<{ sha256: string }>(sql`
      SELECT manifest AS sha256 FROM image_parts
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 = ${sha256} LIMIT 1`),

  /** Returns whether blobs exist that were pushed before `before` and belong to no image. */
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

  /** Adds a blob, or renews its time if it exists. */
  addBlob: ({ packageId, resource }: Repository, blob: ImageBlob, at: string) =>
    db.run(sql`
      INSERT INTO image_blobs (package_id, resource, ${blobColumns}, pushed_at)
      VALUES (${packageId}, ${resource}, ${blob.sha256}, ${blob.sha512}, ${blob.sha3_384}, ${blob.size}, ${at})
      ON CONFLICT (package_id, resource, sha256) DO UPDATE
      SET pushed_at = excluded.pushed_at, sha512 = COALESCE(excluded.sha512, image_blobs.sha512)`),

  /** Adds a manifest with its references. An existing manifest counts as pushed again. */
  async addManifest(
    repository: Repository,
    manifest: ImageManifest,
    { parts, children, about }: ImageReferences,
    at: string,
  ): Promise<void> {
    const { packageId, resource } = repository;
    await db.run(sql`
      INSERT INTO image_manifests (package_id, resource, ${blobColumns}, media_type, pushed_at)
      VALUES (${packageId}, ${resource}, ${manifest.sha256}, ${manifest.sha512}, ${manifest.sha3_384}, ${manifest.size},
        ${manifest.mediaType}, ${at})
      ON CONFLICT (package_id, resource, sha256) DO UPDATE
      SET media_type = excluded.media_type, pushed_at = excluded.pushed_at,
        sha512 = COALESCE(excluded.sha512, image_manifests.sha512)`);
    // Referrers that were pushed before their subject may have named it by its sha512.
    await db.run(sql`
      UPDATE image_referrers SET subject = ${manifest.sha256}
      WHERE package_id = ${packageId} AND resource = ${resource} AND subject = ${manifest.sha512}`);
    for (const part of parts) {
      await db.run(sql`
        INSERT INTO image_parts (package_id, resource, sha256, manifest)
        VALUES (${packageId}, ${resource}, ${part}, ${manifest.sha256})
        ON CONFLICT DO NOTHING`);
    }
    if (children !== undefined) await addChildren(db, repository, manifest.sha256, children);
    if (about === undefined) return;
    await db.run(sql`
      INSERT INTO image_referrers (package_id, resource, manifest, subject, artifact_type, annotations)
      VALUES (${packageId}, ${resource}, ${manifest.sha256}, ${about.subject}, ${about.artifactType},
        ${about.annotations === undefined ? null : JSON.stringify(about.annotations)})
      ON CONFLICT DO NOTHING`);
  },

  addChildren: (repository: Repository, manifest: string, children: string[]) =>
    addChildren(db, repository, manifest, children),

  /** Tags a manifest. The manifest that had the tag counts as used until now. */
  async tag({ packageId, resource }: Repository, tag: string, manifest: string, at: string): Promise<void> {
    await db.run(sql`
      UPDATE image_manifests SET pushed_at = ${at}
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 = (
        SELECT manifest FROM image_tags
        WHERE package_id = ${packageId} AND resource = ${resource} AND tag = ${tag})`);
    await db.run(sql`
      INSERT INTO image_tags (package_id, resource, tag, manifest, tagged_at)
      VALUES (${packageId}, ${resource}, ${tag}, ${manifest}, ${at})
      ON CONFLICT (package_id, resource, tag) DO UPDATE SET manifest = excluded.manifest, tagged_at = excluded.tagged_at`);
  },

  /** Removes a tag. Its manifest counts as used until now. Returns false if there is no such tag. */
  async untag({ packageId, resource }: Repository, tag: string, at: string): Promise<boolean> {
    await db.run(sql`
      UPDATE image_manifests SET pushed_at = ${at}
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 = (
        SELECT manifest FROM image_tags
        WHERE package_id = ${packageId} AND resource = ${resource} AND tag = ${tag})`);
    return (
      0 <
      (await db.run(sql`
        DELETE FROM image_tags WHERE package_id = ${packageId} AND resource = ${resource} AND tag = ${tag}`))
    );
  },

  /** Renews the time of a manifest, so that it is kept longer without a resource that names it. */
  want: ({ packageId, resource }: Repository, sha256: string, at: string) =>
    db.run(sql`
      UPDATE image_manifests SET pushed_at = ${at}
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 = ${sha256}`),

  /** Records the image that a resource's content names; null if it names none. */
  mention: (content: string, manifest: string | null) =>
    db.run(sql`
      INSERT INTO image_mentions (content, manifest) VALUES (${content}, ${manifest})
      ON CONFLICT (content) DO NOTHING`),

  removeManifest: ({ packageId, resource }: Repository, sha256: string) =>
    db.run(sql`
      DELETE FROM image_manifests
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 = ${sha256}`),

  removeBlob: ({ packageId, resource }: Repository, sha256: string) =>
    db.run(sql`
      DELETE FROM image_blobs WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 = ${sha256}`),

  /** Deletes blobs that were pushed before `before` and belong to no image. Returns how many. */
  forgetLoose: (before: string) =>
    db.run(sql`
      DELETE FROM image_blobs
      WHERE pushed_at < ${before} AND NOT EXISTS (
        SELECT 1 FROM image_parts
        WHERE image_parts.package_id = image_blobs.package_id AND image_parts.resource = image_blobs.resource
          AND image_parts.sha256 = image_blobs.sha256)`),
});

/** An empty index lists itself, so that it counts as read. */
async function addChildren(
  db: Queries,
  { packageId, resource }: Repository,
  manifest: string,
  children: string[],
): Promise<void> {
  for (const child of children.length === 0 ? [manifest] : children) {
    await db.run(sql`
      INSERT INTO image_children (package_id, resource, manifest, child)
      VALUES (${packageId}, ${resource}, ${manifest}, ${child})
      ON CONFLICT DO NOTHING`);
  }
}

// Old revisions: revisions that a retention rule may delete, because newer ones are kept and nothing in the store refers to them.
import { list, sql, type ReadQueries } from '#engine/database.ts';

/** Selects the revisions to delete. */
export interface OldRevisionsRule {
  /** How many of the newest revisions to keep. Withdrawn revisions do not count. */
  keep: number;
  /** Only revisions that were ever released to this channel (full name) count and are deleted; null means all. */
  channel: string | null;
  /** Only revisions that were made and last pushed before this time are deleted. */
  before: string | null;
}

export interface OldRevision {
  revision: number;
  version: string;
  /** Bytes of its file. */
  size: number;
  createdAt: string;
}

export const oldRevisions = (db: ReadQueries) => ({
  /**
   * Lists them, oldest first. Excluded are revisions that a channel or branch holds (also in a progressive release), revisions that a build
   * names, revisions with open follow-ups, and the revisions in `but`.
   */
  list: (packageId: string, { keep, channel, before }: OldRevisionsRule, but: number[], limit: number) =>
    db.all<OldRevision>(sql`
      SELECT revision, version, size, created_at AS "createdAt"
      FROM revisions
      WHERE package_id = ${packageId} AND deleted_at IS NULL AND revision NOT IN ${list(but)}
        AND (${channel} IS NULL
          OR revision IN (SELECT revision FROM past_releases WHERE package_id = ${packageId} AND channel = ${channel}))
        AND revision < (
          SELECT kept.revision FROM revisions AS kept
          WHERE kept.package_id = ${packageId} AND kept.deleted_at IS NULL AND kept.withdrawn_at IS NULL
            AND (${channel} IS NULL
              OR kept.revision IN (SELECT revision FROM past_releases WHERE package_id = ${packageId} AND channel = ${channel}))
          ORDER BY kept.revision DESC LIMIT 1 OFFSET ${keep - 1})
        AND (${before} IS NULL OR created_at < ${before})
        AND revision NOT IN (SELECT revision FROM releases WHERE package_id = ${packageId})
        AND NOT EXISTS (
          SELECT 1 FROM builds
          WHERE builds.package_id = ${packageId} AND builds.released_revision = revisions.revision)
        AND NOT EXISTS (
          SELECT 1 FROM uploads
          WHERE uploads.sha3_384 = revisions.sha3_384 AND uploads.package_id = ${packageId}
            AND (uploads.pushed_at >= ${before}
              OR EXISTS (SELECT 1 FROM after_review WHERE upload_id = uploads.id AND settled = 0)))
      ORDER BY revision LIMIT ${limit}`),

  /** Lists in ascending order the ids of packages with more than `keep` revisions, beginning after the id `after`. */
  packagesWithMore: async (keep: number, after: string, limit: number) =>
    (
      await db.all<{ id: string }>(sql`
        SELECT package_id AS id FROM revisions WHERE package_id > ${after} AND deleted_at IS NULL
        GROUP BY package_id HAVING count(*) > ${keep} ORDER BY package_id LIMIT ${limit}`)
    ).map(({ id }) => id),
});

// Uploads: content that was sent, the package that claimed it, and how its review goes.
import type { UploadStatus } from '#domain/upload-status.ts';
import { sql, type Queries } from './database.ts';

export interface ReviewError {
  code: string;
  message: string;
}

/** Content that was received and that no package has claimed yet. */
export interface Upload {
  id: string;
  sha3_384: string;
  sha256: string;
  size: number;
  address: string;
  receivedAt: string;
}

/** An upload that a package has claimed. */
export interface Review extends Upload {
  packageId: string;
  pushedBy: string;
  pushedAt: string;
  status: UploadStatus;
  revision: number | null;
  errors: ReviewError[] | null;
}

type Row = Omit<Review, 'errors'> & { errors: string | null };

const asReview = (row: Row): Review => ({
  ...row,
  errors: row.errors === null ? null : (JSON.parse(row.errors) as ReviewError[]),
});

export const uploads = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** The upload of this id, claimed or not. */
  find: (id: string) =>
    db.get<Upload & { packageId: string | null }>(sql`
      SELECT id, sha3_384, sha256, size, address, received_at AS "receivedAt", package_id AS "packageId"
      FROM uploads WHERE id = ${id}`),

  /** The review of this upload by this package. */
  async review(packageId: string, id: string): Promise<Review | undefined> {
    const row = await db.get<Row>(sql`
      SELECT id, sha3_384, sha256, size, address, received_at AS "receivedAt", package_id AS "packageId",
        pushed_by AS "pushedBy", pushed_at AS "pushedAt", status, revision, errors
      FROM uploads WHERE id = ${id} AND package_id = ${packageId}`);
    return row && asReview(row);
  },

  /** A package's newest reviews, newest first. */
  async reviews(packageId: string, limit: number): Promise<Review[]> {
    const rows = await db.all<Row>(sql`
      SELECT id, sha3_384, sha256, size, address, received_at AS "receivedAt", package_id AS "packageId",
        pushed_by AS "pushedBy", pushed_at AS "pushedAt", status, revision, errors
      FROM uploads WHERE package_id = ${packageId}
      ORDER BY pushed_at DESC, rowid DESC LIMIT ${limit}`);
    return rows.map(asReview);
  },

  /** The upload that has waited longest for its review. */
  async nextToReview(): Promise<Review | undefined> {
    const row = await db.get<Row>(sql`
      SELECT id, sha3_384, sha256, size, address, received_at AS "receivedAt", package_id AS "packageId",
        pushed_by AS "pushedBy", pushed_at AS "pushedAt", status, revision, errors
      FROM uploads WHERE status = 'new' AND status IN ('new', 'scanned')
      ORDER BY pushed_at, rowid LIMIT 1`);
    return row && asReview(row);
  },

  hasReviewPending: async (packageId: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM uploads WHERE package_id = ${packageId} AND status IN ('new', 'scanned') LIMIT 1`)),

  /** How many bytes an address has sent that nobody has claimed. */
  unclaimedBytes: async (address: string) =>
    (
      await db.get<{ bytes: number }>(sql`
        SELECT COALESCE(SUM(size), 0) AS bytes FROM uploads WHERE address = ${address} AND package_id IS NULL`)
    )?.bytes ?? 0,

  /** Uploads that nobody has claimed since before a moment. */
  unclaimedSince: (before: string, limit: number) =>
    db.all<{ id: string; sha3_384: string }>(sql`
      SELECT id, sha3_384 FROM uploads WHERE package_id IS NULL AND received_at < ${before} LIMIT ${limit}`),

  /** Whether any record still needs this content. */
  needsContent: async (sha3_384: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM uploads WHERE sha3_384 = ${sha3_384}
      UNION ALL SELECT 1 FROM revisions WHERE sha3_384 = ${sha3_384}
      UNION ALL SELECT 1 FROM image_blobs WHERE sha3_384 = ${sha3_384}
      UNION ALL SELECT 1 FROM image_manifests WHERE sha3_384 = ${sha3_384}
      UNION ALL SELECT 1 FROM packages WHERE icon = ${`${sha3_384}.png`} OR icon = ${`${sha3_384}.svg`} LIMIT 1`)),
});

export const uploadChanges = (db: Queries) => ({
  ...uploads(db),

  add: (upload: Upload) =>
    db.run(sql`
      INSERT INTO uploads (id, sha3_384, sha256, size, address, received_at)
      VALUES (${upload.id}, ${upload.sha3_384}, ${upload.sha256}, ${upload.size}, ${upload.address}, ${upload.receivedAt})`),

  /** Claims an upload for a package and puts it up for review; false when it is claimed already or not there. */
  claim: async (id: string, claim: { packageId: string; pushedBy: string; pushedAt: string }) =>
    0 <
    (await db.run(sql`
      UPDATE uploads
      SET package_id = ${claim.packageId}, pushed_by = ${claim.pushedBy}, pushed_at = ${claim.pushedAt}, status = 'new'
      WHERE id = ${id} AND package_id IS NULL`)),

  approve: (id: string, revision: number) =>
    db.run(sql`UPDATE uploads SET status = 'approved', revision = ${revision} WHERE id = ${id}`),

  reject: (id: string, errors: ReviewError[]) =>
    db.run(sql`UPDATE uploads SET status = 'rejected', errors = ${JSON.stringify(errors)} WHERE id = ${id}`),

  forget: async (id: string) => 0 < (await db.run(sql`DELETE FROM uploads WHERE id = ${id} AND package_id IS NULL`)),
});

// Counts: how much the store holds, for those who look at it from time to time.
import { sql, type Queries } from '#engine/database.ts';

export interface Counts {
  packages: number;
  revisions: number;
  accounts: number;
  unclaimed: number;
  waiting: number;
  approved: number;
  rejected: number;
  blobBytes: number;
  auditEntries: number;
  damagedBlobs: number;
}

export const counts = (db: Pick<Queries, 'get' | 'all'>) => ({
  all: async (): Promise<Counts> =>
    (await db.get<Counts>(sql`
      SELECT
        (SELECT COUNT(*) FROM packages) AS packages,
        (SELECT COUNT(*) FROM revisions WHERE deleted_at IS NULL) AS revisions,
        (SELECT COUNT(*) FROM accounts) AS accounts,
        (SELECT COUNT(*) FROM damaged_blobs) AS "damagedBlobs",
        (SELECT COUNT(*) FILTER (WHERE status IS NULL) FROM uploads) AS unclaimed,
        (SELECT COUNT(*) FILTER (WHERE status IN ('new', 'scanned')) FROM uploads) AS waiting,
        (SELECT COUNT(*) FILTER (WHERE status = 'approved') FROM uploads) AS approved,
        (SELECT COUNT(*) FILTER (WHERE status = 'rejected') FROM uploads) AS rejected,
        (SELECT COALESCE(SUM(size), 0) FROM (SELECT DISTINCT sha3_384, size FROM revisions WHERE deleted_at IS NULL) AS contents)
          AS "blobBytes",
        (SELECT COALESCE(MAX(seq), 0) FROM audit) AS "auditEntries"`))!,
});

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

type Row = Omit<Counts, 'approved'> & { uploads: number };

export const counts = (db: Pick<Queries, 'get' | 'all'>) => ({
  async all(): Promise<Counts> {
    const row = (await db.get<Row>(sql`
      SELECT
        (SELECT row_count FROM noun_versions WHERE noun = 'packages') AS packages,
        (SELECT row_count FROM noun_versions WHERE noun = 'revisions') AS revisions,
        (SELECT COUNT(*) FROM accounts) AS accounts,
        (SELECT COUNT(*) FROM damaged_blobs) AS "damagedBlobs",
        (SELECT row_count FROM noun_versions WHERE noun = 'uploads') AS uploads,
        (SELECT COUNT(*) FROM uploads WHERE package_id IS NULL) AS unclaimed,
        (SELECT COUNT(*) FROM uploads WHERE status IN ('new', 'scanned')) AS waiting,
        (SELECT COUNT(*) FROM uploads WHERE status = 'rejected') AS rejected,
        (SELECT bytes FROM noun_versions WHERE noun = 'packages') AS "blobBytes",
        (SELECT COALESCE(MAX(seq), 0) FROM audit) AS "auditEntries"`))!;
    const { uploads, ...counted } = row;
    const { unclaimed, waiting, rejected } = counted;
    return { ...counted, approved: uploads - unclaimed - waiting - rejected };
  },
});

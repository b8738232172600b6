// Blobs in quarantine: content that no longer matches its digest, out of service until it is received again.
import { sql, type Queries } from '#engine/database.ts';

export interface QuarantinedBlob {
  sha3_384: string;
  size: number;
  foundAt: string;
}

export const damagedBlobs = (db: Pick<Queries, 'get' | 'all'>) => ({
  has: async (sha3_384: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM damaged_blobs WHERE sha3_384 = ${sha3_384}`)),

  list: (limit: number) =>
    db.all<QuarantinedBlob>(sql`
      SELECT sha3_384, size, found_at AS "foundAt" FROM damaged_blobs ORDER BY sha3_384 LIMIT ${limit}`),
});

export const damagedBlobChanges = (db: Queries) => ({
  ...damagedBlobs(db),

  add: (blob: QuarantinedBlob) =>
    db.run(sql`
      INSERT INTO damaged_blobs (sha3_384, size, found_at) VALUES (${blob.sha3_384}, ${blob.size}, ${blob.foundAt})
      ON CONFLICT (sha3_384) DO UPDATE SET size = excluded.size, found_at = excluded.found_at`),

  /** Removes a blob from the list: intact content exists again, or no record needs it. */
  mended: async (sha3_384: string) => 0 < (await db.run(sql`DELETE FROM damaged_blobs WHERE sha3_384 = ${sha3_384}`)),
});

// Requests to other sites that were made here, and the receipts that came with the requests of other sites.
import { list, sql, type Queries } from '#engine/database.ts';

export interface MadeRequest {
  number: number;
  /** The SHA-256 of its statement. */
  id: string;
  /** Size of the whole file. */
  bytes: number;
  /** RFC 3339. */
  madeAt: string;
  /** The account that made it, in the form of the audit log. */
  madeBy: string;
}

/** A site's confirmation that it accepted or withdrew a transfer. */
export interface SiteReceipt {
  site: string;
  /** The SHA-256 of the transfer's statement. */
  transfer: string;
  status: 'accepted' | 'withdrawn';
  /** RFC 3339. */
  at: string;
  /** JSON. */
  receipt: string;
  notedAt: string;
}

export const requests = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Returns the last request; undefined if there is none. */
  newest: () =>
    db.get<MadeRequest>(sql`
      SELECT number, id, bytes, made_at AS "madeAt", made_by AS "madeBy" FROM made_requests ORDER BY number DESC LIMIT 1`),

  /** Lists the contents of these packages by their SHA3-384, each once. */
  contentsOf: async (packageIds: readonly string[]): Promise<string[]> =>
    (
      await db.all<{ sha3_384: string }>(sql`
        SELECT DISTINCT sha3_384 FROM package_contents WHERE package_id IN ${list(packageIds)}`)
    ).map(({ sha3_384 }) => sha3_384),

  /** Lists the receipts of a site. */
  receiptsOf: (site: string, limit: number) =>
    db.all<SiteReceipt>(sql`
      SELECT site, transfer, status, at, receipt, noted_at AS "notedAt" FROM site_receipts
      WHERE site = ${site} ORDER BY transfer LIMIT ${limit}`),
});

export const requestChanges = (db: Queries) => ({
  ...requests(db),

  add: (r: MadeRequest) =>
    db.run(sql`
      INSERT INTO made_requests (number, id, bytes, made_at, made_by)
      VALUES (${r.number}, ${r.id}, ${r.bytes}, ${r.madeAt}, ${r.madeBy})`),

  /** Stores a receipt; a later one of the same transfer replaces it. Returns how many were new. */
  noteReceipt: (r: SiteReceipt) =>
    db.run(sql`
      INSERT INTO site_receipts (site, transfer, status, at, receipt, noted_at)
      VALUES (${r.site}, ${r.transfer}, ${r.status}, ${r.at}, ${r.receipt}, ${r.notedAt})
      ON CONFLICT (site, transfer) DO UPDATE
      SET status = excluded.status, at = excluded.at, receipt = excluded.receipt, noted_at = excluded.noted_at
      WHERE excluded.at > site_receipts.at`),
});

// Requests: those that were carried out of here, what they tell of what is here, and what the requests of others told us.
import { list, sql, type Queries } from '#engine/database.ts';

export interface MadeRequest {
  number: number;
  /** The SHA-256 of its statement. */
  id: string;
  /** Of the whole file. */
  bytes: number;
  /** RFC 3339. */
  madeAt: string;
  /** As the audit log writes it. */
  madeBy: string;
}

/** What a site says of a transfer that it has let in. */
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
  /** The last that was made; nothing where none was. */
  newest: () =>
    db.get<MadeRequest>(sql`
      SELECT number, id, bytes, made_at AS "madeAt", made_by AS "madeBy" FROM made_requests ORDER BY number DESC LIMIT 1`),

  /** The contents of these packages, by their SHA3-384, each once. */
  contentsOf: async (packageIds: readonly string[]): Promise<string[]> =>
    (
      await db.all<{ sha3_384: string }>(sql`
        SELECT DISTINCT sha3_384 FROM package_contents WHERE package_id IN ${list(packageIds)}`)
    ).map(({ sha3_384 }) => sha3_384),

  /** What a site said of transfers. */
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

  /** Notes what a site says of a transfer; what it says later counts. How many were new. */
  noteReceipt: (r: SiteReceipt) =>
    db.run(sql`
      INSERT INTO site_receipts (site, transfer, status, at, receipt, noted_at)
      VALUES (${r.site}, ${r.transfer}, ${r.status}, ${r.at}, ${r.receipt}, ${r.notedAt})
      ON CONFLICT (site, transfer) DO UPDATE
      SET status = excluded.status, at = excluded.at, receipt = excluded.receipt, noted_at = excluded.noted_at
      WHERE excluded.at > site_receipts.at`),
});

// Bills of materials: the software that revisions contain, as JSON.
import type { PackageType } from '#domain/packages/namespace.ts';
import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import { sql, type Queries, type ReadQueries } from '#engine/database.ts';
import { unreadColumns } from '../revisions/revisions.ts';

/** A revision that was not read for its bill yet. */
export interface RevisionWithoutBill {
  packageId: string;
  revision: number;
  sha3_384: string;
  name: string;
  type: PackageType;
}

const parseBill = (row: { bill: string } | undefined): BillOfMaterials | undefined =>
  row && (JSON.parse(row.bill) as BillOfMaterials);

export const billsOfMaterials = (db: ReadQueries) => ({
  /** Returns the bill of a revision; undefined if it was not read yet. */
  ofRevision: async (packageId: string, revision: number): Promise<BillOfMaterials | undefined> =>
    parseBill(
      await db.get<{ bill: string }>(sql`
        SELECT bill FROM revision_bills WHERE package_id = ${packageId} AND revision = ${revision}`),
    ),

  /** Lists revisions without a bill, after the given one. */
  unreadRevisions: (after: { packageId: string; revision: number }, limit: number) =>
    db.all<RevisionWithoutBill>(sql`
      SELECT ${unreadColumns}
      FROM revisions JOIN packages ON packages.id = package_id
      WHERE deleted_at IS NULL AND (package_id, revision) > (${after.packageId}, ${after.revision})
        AND NOT EXISTS (
          SELECT 1 FROM revision_bills
          WHERE revision_bills.package_id = revisions.package_id AND revision_bills.revision = revisions.revision)
      ORDER BY package_id, revision LIMIT ${limit}`),
});

export const billOfMaterialsChanges = (db: Queries) => ({
  ...billsOfMaterials(db),

  /** Stores the bill of a revision. An existing one stays. */
  addToRevision: (packageId: string, revision: number, bill: BillOfMaterials) =>
    db.run(sql`
      INSERT INTO revision_bills (package_id, revision, bill)
      SELECT package_id, revision, ${JSON.stringify(bill)} FROM revisions
      WHERE package_id = ${packageId} AND revision = ${revision}
      ON CONFLICT DO NOTHING`),
});

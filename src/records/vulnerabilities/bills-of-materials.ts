// Bills of materials: the software that revisions and images contain, as JSON.
import type { PackageType } from '#domain/packages/namespace.ts';
import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import { list, sql, type Queries, type ReadQueries } from '#engine/database.ts';
import { storedColumns, type ImageBlob, type Repository, type StoredManifest } from '../images/images.ts';
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

  /** Returns the bill of a manifest, by its sha256; undefined if it was not read yet. */
  ofManifest: async ({ packageId, resource }: Repository, sha256: string): Promise<BillOfMaterials | undefined> =>
    parseBill(
      await db.get<{ bill: string }>(sql`
        SELECT bill FROM image_bills
        WHERE package_id = ${packageId} AND resource = ${resource} AND manifest = ${sha256}`),
    ),

  /** Returns the manifests with a bill, by their sha256. */
  readAmong: async ({ packageId, resource }: Repository, digests: readonly string[]): Promise<string[]> =>
    (
      await db.all<{ manifest: string }>(sql`
        SELECT manifest FROM image_bills
        WHERE package_id = ${packageId} AND resource = ${resource} AND manifest IN ${list(digests)}`)
    ).map(({ manifest }) => manifest),

  /** Lists the claims about a manifest: the bills of its referrers, and of attestations in an index that lists it. */
  claimsAbout: async ({ packageId, resource }: Repository, sha256: string): Promise<BillOfMaterials[]> => {
    const rows = await db.all<{ bill: string }>(sql`
      SELECT bill FROM image_referrers
      JOIN image_bills ON image_bills.package_id = image_referrers.package_id
        AND image_bills.resource = image_referrers.resource AND image_bills.manifest = image_referrers.manifest
      WHERE image_referrers.package_id = ${packageId} AND image_referrers.resource = ${resource}
        AND image_referrers.subject = ${sha256}
      ORDER BY image_referrers.manifest LIMIT 100`);
    const attested = await db.all<{ bill: string }>(sql`
      SELECT DISTINCT image_bills.manifest, bill FROM image_children AS own
      JOIN image_children AS listed ON listed.package_id = own.package_id
        AND listed.resource = own.resource AND listed.manifest = own.manifest
      JOIN image_bills ON image_bills.package_id = own.package_id
        AND image_bills.resource = own.resource AND image_bills.manifest = listed.child
      WHERE own.package_id = ${packageId} AND own.resource = ${resource} AND own.child = ${sha256}
        AND bill LIKE ${`%"about":"${sha256}"%`}
      ORDER BY image_bills.manifest LIMIT 100`);
    return [...rows, ...attested].flatMap((row) => parseBill(row) ?? []).filter(({ claim }) => claim !== undefined);
  },

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

  /** Lists manifests without a bill, after the given one. */
  unreadManifests: (after: Repository & { sha256: string }, limit: number) =>
    db.all<StoredManifest>(sql`
      SELECT ${storedColumns}
      FROM image_manifests
      WHERE (package_id, resource, sha256) > (${after.packageId}, ${after.resource}, ${after.sha256})
        AND NOT EXISTS (
          SELECT 1 FROM image_bills
          WHERE image_bills.package_id = image_manifests.package_id AND image_bills.resource = image_manifests.resource
            AND image_bills.manifest = image_manifests.sha256)
      ORDER BY package_id, resource, sha256 LIMIT ${limit}`),

  /** Lists the blobs of a manifest that its repository has. */
  blobsOf: ({ packageId, resource }: Repository, sha256: string) =>
    db.all<Pick<ImageBlob, 'sha256' | 'sha512' | 'sha3_384'>>(sql`
      SELECT image_blobs.sha256, sha512, sha3_384 FROM image_parts
      JOIN image_blobs ON image_blobs.package_id = image_parts.package_id
        AND image_blobs.resource = image_parts.resource AND image_blobs.sha256 = image_parts.sha256
      WHERE image_parts.package_id = ${packageId} AND image_parts.resource = ${resource}
        AND image_parts.manifest = ${sha256}`),
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

  /** Stores the bill of a manifest. An existing one stays. */
  addToManifest: ({ packageId, resource }: Repository, sha256: string, bill: BillOfMaterials) =>
    db.run(sql`
      INSERT INTO image_bills (package_id, resource, manifest, bill)
      SELECT package_id, resource, sha256, ${JSON.stringify(bill)} FROM image_manifests
      WHERE package_id = ${packageId} AND resource = ${resource} AND sha256 = ${sha256}
      ON CONFLICT DO NOTHING`),
});

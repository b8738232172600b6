// Uploads: received content, the package that claimed it, and the state of its review.
import { removedName } from './unclaimed-uploads.ts';
import type { ResourceBase } from '#domain/resources/resource-base.ts';
import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import type { UploadStatus } from '#domain/uploads/upload-status.ts';
import { columns, list, sql, type Queries } from '#engine/database.ts';

import { unclaimedUploadChanges, type UnclaimedUpload } from './unclaimed-uploads.ts';
import type { Links } from '../packages/packages.ts';
import type { ResourceDeclaration } from '../resources/resources.ts';
import type { CharmTexts, RevisionDetails } from '../revisions/revisions.ts';

export interface UploadReviewError {
  code: string;
  message: string;
}

/** An upload that a package has claimed. */
export interface Review extends UnclaimedUpload {
  packageId: string;
  pushedBy: string;
  pushedAt: string;
  status: UploadStatus;
  revision: number | null;
  errors: UploadReviewError[] | null;
  /** The resource that it was pushed for; null if it was pushed as a revision. */
  resource: string | null;
  request: ResourceRequest | null;
  /** The findings of the review, if a person still has to approve. */
  findings: Findings | null;
}

/** The publisher's data about a resource at the push. */
export interface ResourceRequest {
  type: string;
  bases: ResourceBase[] | null;
  architectures: string[] | null;
  packageRevision: number | null;
}

/** The data that an approved upload's revision or resource gets. */
export type Findings =
  | {
      kind: 'revision';
      version: string | null;
      details: RevisionDetails;
      declares: ResourceDeclaration[];
      packageYaml: string | null;
      craftYaml: string | null;
      /** The data of a charm for juju, in addition to its metadata. */
      charm?: CharmTexts;
      /** Metadata in the content, for fields that the publisher has not set. */
      prose: ContentProse | null;
      /** The icon's digest and file ending; undefined if the content does not determine it. */
      icon?: string | null;
      /** Undefined if an earlier version of larder stored the findings, and if a job has to read it. */
      bill?: BillOfMaterials;
    }
  | { kind: 'resource'; sha384: string; sha512: string };

/** Earlier versions of larder stored neither license nor links. Charms have no license here; it is in `details`. */
interface ContentProse {
  title: string | null;
  summary: string | null;
  description: string | null;
  license?: string | null;
  links?: Links;
}

type ReviewRow = Omit<Review, 'errors' | 'request' | 'findings'> & {
  errors: string | null;
  request: string | null;
  findings: string | null;
};

const asReview = (row: ReviewRow): Review => ({
  ...row,
  errors: JSON.parse(row.errors ?? 'null') as UploadReviewError[] | null,
  request: JSON.parse(row.request ?? 'null') as ResourceRequest | null,
  findings: JSON.parse(row.findings ?? 'null') as Findings | null,
});

const reviewColumns = columns`
  id, sha3_384, sha256, size, address, received_at AS "receivedAt", package_id AS "packageId",
  pushed_by AS "pushedBy", pushed_at AS "pushedAt", status, revision, errors, resource, request, findings`;

export const uploads = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Finds an upload, claimed or not. */
  find: (id: string) =>
    db.get<UnclaimedUpload & { packageId: string | null }>(sql`
      SELECT id, sha3_384, sha256, size, address, received_at AS "receivedAt", package_id AS "packageId"
      FROM uploads WHERE id = ${id}`),

  /** Finds the review of an upload by a package. */
  async review(packageId: string, id: string): Promise<Review | undefined> {
    const row = await db.get<ReviewRow>(sql`
      SELECT ${reviewColumns}
      FROM uploads WHERE id = ${id} AND package_id = ${packageId}`);
    return row && asReview(row);
  },

  /** Finds a claimed upload of any package. */
  async claimed(id: string): Promise<Review | undefined> {
    const row = await db.get<ReviewRow>(sql`
      SELECT ${reviewColumns}
      FROM uploads WHERE id = ${id} AND package_id IS NOT NULL`);
    return row && asReview(row);
  },

  /** Lists the uploads that wait for a person's verdict, the longest wait first. */
  async awaitingPeople(limit: number): Promise<Review[]> {
    const rows = await db.all<ReviewRow>(sql`
      SELECT ${reviewColumns}
      FROM uploads WHERE status = 'scanned' AND status IN ('new', 'scanned')
      ORDER BY pushed_at, seq LIMIT ${limit}`);
    return rows.map(asReview);
  },

  /** Returns when an upload was deleted, and after how many hours; undefined if that is too long ago or it was not deleted. */
  removal: async (id: string): Promise<{ at: string; hours: number } | undefined> => {
    const row = await db.get<{ holder: string }>(sql`
      SELECT holder FROM passing_leases WHERE name = ${removedName(id)}`);
    const [, at, hours] = row?.holder.split(' ') ?? [];
    return at === undefined ? undefined : { at, hours: Number(hours) };
  },

  /** Lists a package's reviews, newest first. */
  async reviews(packageId: string, limit: number): Promise<Review[]> {
    const rows = await db.all<ReviewRow>(sql`
      SELECT ${reviewColumns}
      FROM uploads WHERE package_id = ${packageId}
      ORDER BY pushed_at DESC, seq DESC LIMIT ${limit}`);
    return rows.map(asReview);
  },

  /** Returns the next upload to review, among those pushed as revisions or as resources, skipping the given ids. */
  async nextToReview(of: 'revisions' | 'resources', but: string[] = []): Promise<Review | undefined> {
    const row = await db.get<ReviewRow>(sql`
      SELECT ${reviewColumns}
      FROM uploads
      WHERE status = 'new' AND status IN ('new', 'scanned') AND CASE WHEN resource IS NULL THEN 'revisions' ELSE 'resources' END = ${of}
        AND id NOT IN ${list(but)}
      ORDER BY pushed_at, seq LIMIT 1`);
    return row && asReview(row);
  },

  hasReviewPending: async (packageId: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM uploads WHERE package_id = ${packageId} AND status IN ('new', 'scanned') LIMIT 1`)),

  /** Lists the SHA3-384 digests of all uploads in ascending order, each once, beginning after `after`. */
  contents: async (after: string, limit: number) =>
    (
      await db.all<{ sha3_384: string }>(sql`
        SELECT DISTINCT sha3_384 FROM uploads WHERE sha3_384 > ${after} ORDER BY sha3_384 LIMIT ${limit}`)
    ).map(({ sha3_384 }) => sha3_384),

  /** Lists the unclaimed uploads with this content. */
  unclaimedWith: (sha3_384: string) =>
    db.all<{ id: string }>(sql`SELECT id FROM uploads WHERE sha3_384 = ${sha3_384} AND package_id IS NULL`),
});

/** A push: the account, and the purpose of the upload. */
export interface UploadClaim {
  packageId: string;
  pushedBy: string;
  pushedAt: string;
  resource?: { name: string; request: ResourceRequest };
}

/** Adds and deletes unclaimed uploads within acts. All other changes of them are ephemeral and have no entry in the audit log. */
const unclaimed = (db: Queries) => {
  const { add, forget } = unclaimedUploadChanges(db);
  return { add, forget };
};

export const uploadChanges = (db: Queries) => ({
  ...uploads(db),
  ...unclaimed(db),

  claim: async (id: string, claim: UploadClaim) =>
    0 <
    (await db.run(sql`
      UPDATE uploads
      SET package_id = ${claim.packageId}, pushed_by = ${claim.pushedBy}, pushed_at = ${claim.pushedAt}, status = 'new',
        resource = ${claim.resource?.name ?? null}, request = ${claim.resource ? JSON.stringify(claim.resource.request) : null}
      WHERE id = ${id} AND package_id IS NULL`)),

  approve: (id: string, revision: number) =>
    db.write(sql`
      UPDATE uploads SET status = 'approved', revision = ${revision}, findings = NULL, icon = NULL WHERE id = ${id}`),

  /** Stores the findings until a person decides. */
  scan: (id: string, findings: Findings) =>
    db.write(sql`
      UPDATE uploads
      SET status = 'scanned', findings = ${JSON.stringify(findings)},
        icon = ${findings.kind === 'revision' ? (findings.icon ?? null) : null}
      WHERE id = ${id}`),

  reject: (id: string, errors: UploadReviewError[]) =>
    db.write(sql`
      UPDATE uploads SET status = 'rejected', errors = ${JSON.stringify(errors)}, findings = NULL, icon = NULL
      WHERE id = ${id}`),
});

// Revisions: approved content of a package, numbered 1, 2, 3, or as in the store that they were imported from.
import type { PackageType } from '#domain/packages/namespace.ts';
import { Refusal } from '#domain/refusal.ts';
import type { RevisionStatus } from '#domain/uploads/upload-status.ts';
import { columns, list, sql, type Queries, type ReadQueries } from '#engine/database.ts';

/** Details of a revision that only some namespaces have. */
export interface RevisionDetails {
  apps?: string[];
  architectures?: string[];
  base?: string | null;
  bases?: { architecture: string; channel: string; name: string }[];
  buildUrl?: string | null;
  confinement?: 'strict' | 'classic' | 'devmode';
  grade?: 'stable' | 'devel';
  type?: 'app' | 'os' | 'gadget' | 'kernel' | 'base' | 'snapd';
  /** Files of a snap that the store does not use, with the reasons; for people. */
  notices?: string[];
  /** Relations and resources of a charm. */
  said?: {
    /** The interfaces of its relations. */
    provides: string[];
    requires: string[];
    /** By name. */
    resources: Record<string, { filename: string; description: string }>;
    /** Categories and license; missing for charms that were reviewed before these were read. */
    categories?: string[];
    license?: string | null;
  };
}

/** The data that juju gets about a charm before the download, in addition to its metadata; null for a missing file. */
export interface CharmTexts {
  sha384: string;
  configYaml: string | null;
  actionsYaml: string | null;
}

/** A new revision. */
export interface NewRevision {
  packageId: string;
  revision: number;
  sha3_384: string;
  sha256: string;
  size: number;
  version: string;
  status: Exclude<RevisionStatus, 'rejected'>;
  createdAt: string;
  createdBy: string;
  details: RevisionDetails;
}

/** A stored revision. Its status is `rejected` while it is withdrawn or deleted. */
export interface Revision extends Omit<NewRevision, 'status'> {
  status: RevisionStatus;
  withdrawnAt: string | null;
  /** The actor as in the audit log: an account id, `cli:<user>`, or `larder` for the store itself. */
  withdrawnBy: string | null;
  withdrawnBecause: string | null;
  deletedAt: string | null;
  /** The actor as in the audit log: an account id, `cli:<user>`, or `larder` for the store itself. */
  deletedBy: string | null;
  deletedBecause: string | null;
}

/** A revision with the text of its snap.yaml. */
export type RevisionForDevices = Revision & { packageYaml: string | null };

/** A revision of a charm with the data that juju needs to deploy it. An empty `sha384` means that this data has not been read yet. */
export type RevisionForJuju = RevisionForDevices & CharmTexts;

type RevisionRow = Omit<Revision, 'details'> & { details: string };

const asRevision = <R extends RevisionRow>(row: R): Omit<R, 'details'> & { details: RevisionDetails } => ({
  ...row,
  details: JSON.parse(row.details) as RevisionDetails,
});

/** Sort orders other than newest first; `-` reverses the order. */
export type RevisionOrder = 'revision' | 'size' | '-size';

const revisionColumns = columns`
  package_id AS "packageId", revision, sha3_384, sha256, size, version,
  CASE WHEN withdrawn_at IS NULL AND deleted_at IS NULL THEN status ELSE 'rejected' END AS status, created_at AS "createdAt",
  created_by AS "createdBy", details, withdrawn_at AS "withdrawnAt", withdrawn_by AS "withdrawnBy",
  withdrawn_because AS "withdrawnBecause", deleted_at AS "deletedAt", deleted_by AS "deletedBy",
  deleted_because AS "deletedBecause"`;

/** The columns that a job needs to read the content of a revision, joined with its package. */
export const unreadColumns = columns`package_id AS "packageId", revision, sha3_384, packages.name, packages.type`;

/** These queries leave out deleted revisions, unless they say otherwise. */
export const revisions = (db: ReadQueries) => ({
  async find(packageId: string, revision: number): Promise<Revision | undefined> {
    const row = await db.get<RevisionRow>(sql`
      SELECT ${revisionColumns}
      FROM revisions WHERE package_id = ${packageId} AND revision = ${revision} AND deleted_at IS NULL`);
    return row && asRevision(row);
  },

  /** Returns why a revision was deleted; undefined if it was not. */
  whyDeleted: async (packageId: string, revision: number): Promise<string | undefined> =>
    (
      await db.get<{ because: string }>(sql`
        SELECT coalesce(deleted_because, '') AS because
        FROM revisions WHERE package_id = ${packageId} AND revision = ${revision} AND deleted_at IS NOT NULL`)
    )?.because,

  /** Lists revisions, newest first, by offset. */
  async list(packageId: string, limit: number, passedOver = 0): Promise<Revision[]> {
    const rows = await db.all<RevisionRow>(sql`
      SELECT ${revisionColumns}
      FROM revisions WHERE package_id = ${packageId} AND deleted_at IS NULL
      ORDER BY revision DESC LIMIT ${limit} OFFSET ${passedOver}`);
    return rows.map(asRevision);
  },

  /** Lists the revisions with a number below `before`, newest first, including deleted ones. */
  async before(packageId: string, before: number, limit: number): Promise<Revision[]> {
    const rows = await db.all<RevisionRow>(sql`
      SELECT ${revisionColumns}
      FROM revisions WHERE package_id = ${packageId} AND revision < ${before} ORDER BY revision DESC LIMIT ${limit}`);
    return rows.map(asRevision);
  },

  /** Lists the revisions of a package in another order, by offset, including deleted ones. */
  async sorted(
    packageId: string,
    order: RevisionOrder,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<Revision[]> {
    const rows = await db.all<RevisionRow>(sql`
      SELECT ${revisionColumns}
      FROM revisions WHERE package_id = ${packageId}
      ORDER BY CASE ${order} WHEN 'revision' THEN revision WHEN 'size' THEN size END,
        CASE ${order} WHEN '-size' THEN size END DESC, revision DESC
      LIMIT ${limit} OFFSET ${offset}`);
    return rows.map(asRevision);
  },

  /** Lists these revisions of a package, newest first. */
  async listOf(packageId: string, numbers: number[]): Promise<Revision[]> {
    const rows = await db.all<RevisionRow>(sql`
      SELECT ${revisionColumns}
      FROM revisions WHERE package_id = ${packageId} AND revision IN ${list(numbers)} AND deleted_at IS NULL
      ORDER BY revision DESC`);
    return rows.map(asRevision);
  },

  /** Lists the names of the snap-revision assertions of these revisions; leaves out revisions without an assertion. */
  assertionsOf: (packageId: string, numbers: readonly number[]) =>
    db.all<{ revision: number; assertion: string }>(sql`
      SELECT revision, assertion FROM revisions
      WHERE package_id = ${packageId} AND revision IN ${list(numbers)} AND assertion IS NOT NULL AND assertion <> ''`),

  /** Lists the withdrawn revisions with the reasons. */
  withdrawn: (packageId: string) =>
    db.all<{ revision: number; because: string }>(sql`
      SELECT revision, coalesce(withdrawn_because, '') AS because FROM revisions
      WHERE package_id = ${packageId} AND withdrawn_at IS NOT NULL ORDER BY revision LIMIT 10000`),

  /** Finds a revision for devices, with the text of its snap.yaml. Withdrawn and deleted revisions are not found. */
  async forDevices(packageId: string, revision: number): Promise<RevisionForDevices | undefined> {
    const row = await db.get<RevisionRow & { packageYaml: string | null }>(sql`
      SELECT ${revisionColumns}, package_yaml AS "packageYaml"
      FROM revisions
      WHERE package_id = ${packageId} AND revision = ${revision} AND withdrawn_at IS NULL AND deleted_at IS NULL`);
    return row && asRevision(row);
  },

  /** Finds a revision of a charm for juju. Withdrawn and deleted revisions are not found. */
  async forJuju(packageId: string, revision: number): Promise<RevisionForJuju | undefined> {
    const row = await db.get<RevisionRow & { packageYaml: string | null } & CharmTexts>(sql`
      SELECT ${revisionColumns}, package_yaml AS "packageYaml", coalesce(sha384, '') AS sha384,
        config_yaml AS "configYaml", actions_yaml AS "actionsYaml"
      FROM revisions
      WHERE package_id = ${packageId} AND revision = ${revision} AND withdrawn_at IS NULL AND deleted_at IS NULL`);
    return row && asRevision(row);
  },

  /** Lists charms that an earlier version of larder stored without the data for juju, after the given revision. */
  toReadForJuju: (after: { packageId: string; revision: number }, limit: number) =>
    db.all<{ packageId: string; revision: number; sha3_384: string; name: string; type: PackageType }>(sql`
      SELECT ${unreadColumns}
      FROM revisions JOIN packages ON packages.id = package_id
      WHERE sha384 = '' AND deleted_at IS NULL AND (package_id, revision) > (${after.packageId}, ${after.revision})
      ORDER BY package_id, revision LIMIT ${limit}`),

  /** Returns the files with the metadata of a revision, as far as they are stored. */
  texts: (packageId: string, revision: number) =>
    db.get<{
      packageYaml: string | null;
      craftYaml: string | null;
      configYaml: string | null;
      actionsYaml: string | null;
    }>(sql`
      SELECT craft_yaml AS "craftYaml", package_yaml AS "packageYaml", actions_yaml AS "actionsYaml", config_yaml AS "configYaml"
      FROM revisions WHERE package_id = ${packageId} AND revision = ${revision}`),

  /** Returns the build recipes of these revisions, if their content had one. */
  craftYaml: (packageId: string, numbers: number[]) =>
    db.all<{ revision: number; craftYaml: string | null }>(sql`
      SELECT revision, craft_yaml AS "craftYaml"
      FROM revisions WHERE package_id = ${packageId} AND revision IN ${list(numbers)} AND deleted_at IS NULL`),

  /** Finds the revision of a package with this content, including deleted ones. */
  withContent: (packageId: string, sha3_384: string) =>
    db.get<Pick<Revision, 'revision' | 'withdrawnBecause' | 'deletedAt'>>(sql`
      SELECT revision, withdrawn_because AS "withdrawnBecause", deleted_at AS "deletedAt"
      FROM revisions WHERE package_id = ${packageId} AND sha3_384 = ${sha3_384}`),

  /** Finds a revision by its number, including deleted ones. `assertion` is the key of its snap-revision assertion. */
  numbered: (packageId: string, revision: number) =>
    db.get<Pick<Revision, 'sha3_384' | 'withdrawnBecause' | 'deletedAt'> & { assertion: string | null }>(sql`
      SELECT sha3_384, withdrawn_because AS "withdrawnBecause", deleted_at AS "deletedAt", assertion
      FROM revisions WHERE package_id = ${packageId} AND revision = ${revision}`),

  /** Lists revisions after the given one with a provenance in their snap.yaml and without an assertion. */
  toSign: (after: { packageId: string; revision: number }, limit: number) =>
    db.all<{ packageId: string; revision: number; sha3_384: string; size: number; packageYaml: string }>(sql`
      SELECT package_id AS "packageId", revision, sha3_384, size, package_yaml AS "packageYaml"
      FROM revisions
      WHERE assertion IS NULL AND withdrawn_at IS NULL AND deleted_at IS NULL AND package_yaml LIKE '%provenance:%'
        AND (package_id, revision) > (${after.packageId}, ${after.revision})
      ORDER BY package_id, revision LIMIT ${limit}`),

  /** Returns the highest number ever used, including deleted revisions. */
  newest: async (packageId: string) =>
    (
      await db.get<{ revision: number | null }>(sql`
        SELECT MAX(revision) AS revision FROM revisions WHERE package_id = ${packageId}`)
    )?.revision ?? 0,

  isDamaged: (packageId: string, revision: number) => isDamaged(db, packageId, revision),
});

/** Returns whether the record of a revision is corrupt. */
const isDamaged = (db: ReadQueries, packageId: string, revision: number): Promise<boolean> =>
  db.isDamaged('revisions', { package_id: packageId, revision });

/** Throws if the record is corrupt. A rewritten row gets a new digest, so its corruption would no longer be noticed. */
async function refuseDamaged(db: ReadQueries, packageId: string, revision: number): Promise<void> {
  if (!(await isDamaged(db, packageId, revision))) return;
  const { name } = (await db.get<{ name: string }>(sql`SELECT name FROM packages WHERE id = ${packageId}`))!;
  throw new Refusal(
    'conflict',
    `The store's record of revision ${revision} of '${name}' is corrupt, so nothing was changed. ` +
      'Ask the administrator of the store to restore the records from a backup.',
  );
}

export const revisionChanges = (db: Queries) => ({
  ...revisions(db),

  /** Finds a revision for a change. Throws if its record is corrupt. */
  async find(packageId: string, revision: number): Promise<Revision | undefined> {
    await refuseDamaged(db, packageId, revision);
    return revisions(db).find(packageId, revision);
  },

  add: (r: NewRevision & { packageYaml: string | null; craftYaml: string | null; charm?: CharmTexts | undefined }) =>
    db.write(sql`
      INSERT INTO revisions (package_id, revision, sha3_384, sha256, size, version, status, created_at, created_by, details,
        package_yaml, craft_yaml, sha384, config_yaml, actions_yaml)
      VALUES (${r.packageId}, ${r.revision}, ${r.sha3_384}, ${r.sha256}, ${r.size}, ${r.version}, ${r.status}, ${r.createdAt},
        ${r.createdBy}, ${JSON.stringify(r.details)}, ${r.packageYaml}, ${r.craftYaml}, ${r.charm?.sha384 ?? null},
        ${r.charm?.configYaml ?? null}, ${r.charm?.actionsYaml ?? null})`),

  /** Stores the data for juju of an existing charm. */
  async setCharm(
    packageId: string,
    revision: number,
    { sha384, configYaml, actionsYaml }: CharmTexts,
    details: RevisionDetails,
  ): Promise<void> {
    await refuseDamaged(db, packageId, revision);
    await db.write(sql`
      UPDATE revisions
      SET sha384 = ${sha384}, config_yaml = ${configYaml}, actions_yaml = ${actionsYaml},
        details = ${JSON.stringify(details)}
      WHERE package_id = ${packageId} AND revision = ${revision} AND sha384 = ''`);
  },

  /** Sets the name of a revision's assertion; empty if it needs none. */
  async setAssertion(packageId: string, revision: number, assertion: string): Promise<void> {
    await refuseDamaged(db, packageId, revision);
    await db.write(sql`
      UPDATE revisions SET assertion = ${assertion} WHERE package_id = ${packageId} AND revision = ${revision}`);
  },

  /** Marks a revision as withdrawn, or with `undefined` as available again. */
  async setWithdrawn(
    packageId: string,
    revision: number,
    withdrawn: { at: string; actor: string; because: string } | undefined,
  ): Promise<void> {
    const { at = null, actor = null, because = null } = withdrawn ?? {};
    await refuseDamaged(db, packageId, revision);
    await db.write(sql`
      UPDATE revisions SET withdrawn_at = ${at}, withdrawn_by = ${actor}, withdrawn_because = ${because}
      WHERE package_id = ${packageId} AND revision = ${revision}`);
  },

  /** Marks revisions as deleted, or with `undefined` as available again. */
  async setDeleted(
    packageId: string,
    numbers: number[],
    deleted: { at: string; actor: string; because: string } | undefined,
  ): Promise<void> {
    const { at = null, actor = null, because = null } = deleted ?? {};
    for (const revision of numbers) await refuseDamaged(db, packageId, revision);
    await db.write(sql`
      UPDATE revisions SET deleted_at = ${at}, deleted_by = ${actor}, deleted_because = ${because}
      WHERE package_id = ${packageId} AND revision IN ${list(numbers)}`);
  },

  /** Marks a revision as released. Call `find` before it in the same change, which throws if the record is corrupt. */
  markReleased: (packageId: string, revision: number) =>
    db.write(sql`
      UPDATE revisions SET status = 'released'
      WHERE package_id = ${packageId} AND revision = ${revision} AND status = 'approved'`),
});

// Resource revisions: content that was pushed for a resource, numbered 1, 2, 3.
import type { ResourceBase } from '#domain/resources/resource-base.ts';
import { Refusal } from '#domain/refusal.ts';
import { columns, list, sql, type Queries } from '#engine/database.ts';

export interface ResourceRevision {
  packageId: string;
  name: string;
  revision: number;
  type: string;
  sha256: string;
  sha3_384: string;
  sha384: string;
  sha512: string;
  size: number;
  /** The bases that it runs on; null for a component of a snap, which has architectures instead. */
  bases: ResourceBase[] | null;
  architectures: string[] | null;
  /** The revision of the snap that it was first pushed for. */
  packageRevision: number | null;
  createdAt: string;
  createdBy: string;
  updatedAt: string | null;
  updatedBy: string | null;
}

type ResourceRevisionRow = Omit<ResourceRevision, 'bases' | 'architectures'> & {
  bases: string | null;
  architectures: string | null;
};

const asResourceRevision = (row: ResourceRevisionRow): ResourceRevision => ({
  ...row,
  bases: JSON.parse(row.bases ?? 'null') as ResourceBase[] | null,
  architectures: JSON.parse(row.architectures ?? 'null') as string[] | null,
});

const resourceRevisionColumns = columns`
  package_id AS "packageId", name, revision, type, sha256, sha3_384, sha384, sha512, size, bases, architectures,
  package_revision AS "packageRevision", created_at AS "createdAt", created_by AS "createdBy",
  updated_at AS "updatedAt", updated_by AS "updatedBy"`;

/** A component of a snap: a revision of its resource. */
export interface ComponentRevision {
  name: string;
  revision: number;
  /** Bytes of its file. */
  size: number;
}

export const resourceRevisions = (db: Pick<Queries, 'get' | 'all' | 'isDamaged'>) => ({
  async find(packageId: string, name: string, revision: number): Promise<ResourceRevision | undefined> {
    const row = await db.get<ResourceRevisionRow>(sql`
      SELECT ${resourceRevisionColumns}
      FROM resource_revisions
      WHERE package_id = ${packageId} AND name = ${name} AND revision = ${revision} AND deleted_at IS NULL`);
    return row && asResourceRevision(row);
  },

  /** Lists the revisions of a resource, oldest first. */
  async list(packageId: string, name: string): Promise<ResourceRevision[]> {
    const rows = await db.all<ResourceRevisionRow>(sql`
      SELECT ${resourceRevisionColumns}
      FROM resource_revisions
      WHERE package_id = ${packageId} AND name = ${name} AND deleted_at IS NULL ORDER BY revision`);
    return rows.map(asResourceRevision);
  },

  /** Finds the revision of a resource with this content, including deleted ones. */
  withContent: (packageId: string, name: string, sha3_384: string) =>
    db.get<{ revision: number; deletedAt: string | null }>(sql`
      SELECT revision, deleted_at AS "deletedAt" FROM resource_revisions
      WHERE package_id = ${packageId} AND name = ${name} AND sha3_384 = ${sha3_384}`),

  /** Lists the components of a snap that no remaining revision uses if the revisions in `without` are deleted, by name and number. */
  servingNone: (packageId: string, without: number[]) =>
    db.all<ComponentRevision>(sql`
      SELECT name, revision, size FROM resource_revisions AS component
      WHERE package_id = ${packageId} AND package_revision IS NOT NULL AND deleted_at IS NULL
        AND NOT EXISTS (
          SELECT 1 FROM resource_pairs AS pair
          JOIN revisions ON revisions.package_id = pair.package_id AND revisions.revision = pair.package_revision
          WHERE pair.package_id = component.package_id AND pair.name = component.name
            AND pair.revision = component.revision
            AND revisions.deleted_at IS NULL AND revisions.revision NOT IN ${list(without)})
      ORDER BY name, revision`),

  /** Finds the newest revision of a component that was pushed for a revision of its snap. */
  async newestFor(packageId: string, name: string, packageRevision: number): Promise<ResourceRevision | undefined> {
    const row = await db.get<ResourceRevisionRow>(sql`
      SELECT ${resourceRevisionColumns}
      FROM resource_revisions AS component
      WHERE package_id = ${packageId} AND name = ${name} AND deleted_at IS NULL
        AND EXISTS (
          SELECT 1 FROM resource_pairs AS pair
          WHERE pair.package_id = component.package_id AND pair.name = component.name
            AND pair.revision = component.revision AND pair.package_revision = ${packageRevision})
      ORDER BY revision DESC LIMIT 1`);
    return row && asResourceRevision(row);
  },

  /** Lists the revisions of the snap that a component was pushed for. */
  served: async (packageId: string, name: string, revision: number): Promise<number[]> =>
    (
      await db.all<{ served: number }>(sql`
        SELECT package_revision AS served FROM resource_pairs
        WHERE package_id = ${packageId} AND name = ${name} AND revision = ${revision} ORDER BY package_revision LIMIT 10000`)
    ).map(({ served }) => served),

  /** Returns the newest revision of the snap that a component was pushed for; null if there is none. */
  newestServed: async (packageId: string, name: string, revision: number) =>
    (
      await db.get<{ served: number | null }>(sql`
        SELECT MAX(package_revision) AS served FROM resource_pairs AS pair
        JOIN revisions ON revisions.package_id = pair.package_id AND revisions.revision = package_revision
        WHERE pair.package_id = ${packageId} AND pair.name = ${name} AND pair.revision = ${revision}
          AND revisions.deleted_at IS NULL`)
    )?.served ?? null,

  /** Returns whether the record of a revision is corrupt. */
  isDamaged: (packageId: string, name: string, revision: number) =>
    db.isDamaged('resource_revisions', { package_id: packageId, name, revision }),

  /** Throws if the record of a revision is corrupt, before a change uses it. */
  async refuseDamaged(packageId: string, name: string, revision: number): Promise<void> {
    if (!(await db.isDamaged('resource_revisions', { package_id: packageId, name, revision }))) return;
    throw new Refusal(
      'conflict',
      `The store's record of revision ${revision} of the resource '${name}' is corrupt, so nothing was changed. ` +
        'Ask the administrator of the store to restore the records from a backup.',
    );
  },

  newest: async (packageId: string, name: string) =>
    (
      await db.get<{ revision: number | null }>(sql`
        SELECT MAX(revision) AS revision FROM resource_revisions WHERE package_id = ${packageId} AND name = ${name}`)
    )?.revision ?? 0,
});

const pair = (
  db: Queries,
  { packageId, name, revision }: Pick<ResourceRevision, 'packageId' | 'name' | 'revision'>,
  packageRevision: number,
): Promise<void> =>
  db.write(sql`
    INSERT INTO resource_pairs (package_id, name, revision, package_revision)
    VALUES (${packageId}, ${name}, ${revision}, ${packageRevision}) ON CONFLICT DO NOTHING`);

export const resourceRevisionChanges = (db: Queries) => ({
  ...resourceRevisions(db),

  async add(r: Omit<ResourceRevision, 'updatedAt' | 'updatedBy'>): Promise<void> {
    await db.write(sql`
      INSERT INTO resource_revisions (package_id, name, revision, type, sha256, sha3_384, sha384, sha512, size, bases,
        architectures, package_revision, created_at, created_by)
      VALUES (${r.packageId}, ${r.name}, ${r.revision}, ${r.type}, ${r.sha256}, ${r.sha3_384}, ${r.sha384}, ${r.sha512},
        ${r.size}, ${r.bases && JSON.stringify(r.bases)}, ${r.architectures && JSON.stringify(r.architectures)},
        ${r.packageRevision}, ${r.createdAt}, ${r.createdBy})`);
    if (r.packageRevision !== null) await pair(db, r, r.packageRevision);
  },

  /** Records that a component was pushed for a revision of its snap; a repetition changes nothing. */
  pair: (component: Pick<ResourceRevision, 'packageId' | 'name' | 'revision'>, packageRevision: number) =>
    pair(db, component, packageRevision),

  /** Marks a revision as deleted, or with null as available again. */
  setDeleted: (packageId: string, name: string, revision: number, at: string | null) =>
    db.write(sql`
      UPDATE resource_revisions SET deleted_at = ${at}
      WHERE package_id = ${packageId} AND name = ${name} AND revision = ${revision}`),

  /** Sets the bases of a revision. */
  rebase: (r: {
    packageId: string;
    name: string;
    revision: number;
    bases: ResourceBase[];
    at: string;
    actor: string;
  }) =>
    db.write(sql`
      UPDATE resource_revisions SET bases = ${JSON.stringify(r.bases)}, updated_at = ${r.at}, updated_by = ${r.actor}
      WHERE package_id = ${r.packageId} AND name = ${r.name} AND revision = ${r.revision}`),
});

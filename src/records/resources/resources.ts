// Resources that revisions of packages declare.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface ResourceDeclaration {
  name: string;
  type: string;
  optional: boolean;
}

type ResourceDeclarationRow = Omit<ResourceDeclaration, 'optional'> & { optional: 0 | 1 };

const declaredColumns = columns`name, type, optional, revision`;

export const resources = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists the resources that a revision declares, each with its newest revision. */
  async list(packageId: string, revision: number): Promise<(ResourceDeclaration & { newest: number | null })[]> {
    const rows = await db.all<ResourceDeclarationRow & { newest: number | null }>(sql`
      SELECT name, type, optional,
        (SELECT MAX(revision) FROM resource_revisions
          WHERE resource_revisions.package_id = declared.package_id AND resource_revisions.name = declared.name
            AND deleted_at IS NULL) AS newest
      FROM declared_resources AS declared
      WHERE package_id = ${packageId} AND revision = ${revision} ORDER BY name`);
    return rows.map((row) => ({ ...row, optional: row.optional === 1 }));
  },

  /** Returns the declaration of a resource in a revision; by default, in the newest revision that declares it. */
  async declared(
    packageId: string,
    name: string,
    revision?: number,
  ): Promise<(ResourceDeclaration & { revision: number }) | undefined> {
    const row =
      revision === undefined
        ? await db.get<ResourceDeclarationRow & { revision: number }>(sql`
            SELECT ${declaredColumns} FROM declared_resources
            WHERE package_id = ${packageId} AND name = ${name} ORDER BY revision DESC LIMIT 1`)
        : await db.get<ResourceDeclarationRow & { revision: number }>(sql`
            SELECT ${declaredColumns} FROM declared_resources
            WHERE package_id = ${packageId} AND name = ${name} AND revision = ${revision}
              AND EXISTS (
                SELECT 1 FROM revisions
                WHERE revisions.package_id = declared_resources.package_id
                  AND revisions.revision = declared_resources.revision AND deleted_at IS NULL)`);
    return row && { ...row, optional: row.optional === 1 };
  },
});

export const resourceChanges = (db: Queries) => ({
  ...resources(db),

  declare: (packageId: string, revision: number, { name, type, optional }: ResourceDeclaration) =>
    db.write(sql`
      INSERT INTO declared_resources (package_id, revision, name, type, optional)
      VALUES (${packageId}, ${revision}, ${name}, ${type}, ${Number(optional)})`),
});

// Collaborators: accounts that work on a package of another publisher.
import { sql, type Queries } from '#engine/database.ts';

export interface Collaborator {
  accountId: string;
  createdAt: string;
  createdBy: string;
}

export const collaborators = (db: Pick<Queries, 'get' | 'all'>) => ({
  has: async (packageId: string, accountId: string) =>
    undefined !==
    (await db.get(sql`SELECT 1 FROM collaborators WHERE package_id = ${packageId} AND account_id = ${accountId}`)),

  /** Lists a package's collaborators, first added first. */
  list: (packageId: string) =>
    db.all<Collaborator>(sql`
      SELECT account_id AS "accountId", created_at AS "createdAt", created_by AS "createdBy"
      FROM collaborators WHERE package_id = ${packageId} ORDER BY created_at, account_id`),
});

export const collaboratorChanges = (db: Queries) => ({
  ...collaborators(db),

  /** Removes a collaborator. Returns false if the account was not one. */
  remove: async (packageId: string, accountId: string) =>
    0 < (await db.run(sql`DELETE FROM collaborators WHERE package_id = ${packageId} AND account_id = ${accountId}`)),

  add: (packageId: string, accountId: string, createdBy: string, createdAt: string) =>
    db.run(sql`
      INSERT INTO collaborators (package_id, account_id, created_at, created_by)
      VALUES (${packageId}, ${accountId}, ${createdAt}, ${createdBy})
      ON CONFLICT DO NOTHING`),
});

// Collaborators: accounts that work on a package beside its publisher.
import { sql, type Queries } from './database.ts';

export const collaborators = (db: Pick<Queries, 'get' | 'all'>) => ({
  has: async (packageId: string, accountId: string) =>
    undefined !==
    (await db.get(sql`SELECT 1 FROM collaborators WHERE package_id = ${packageId} AND account_id = ${accountId}`)),
});

export const collaboratorChanges = (db: Queries) => ({
  ...collaborators(db),
  add: (packageId: string, accountId: string, createdBy: string, createdAt: string) =>
    db.run(sql`
      INSERT INTO collaborators (package_id, account_id, created_at, created_by)
      VALUES (${packageId}, ${accountId}, ${createdAt}, ${createdBy})
      ON CONFLICT DO NOTHING`),
});

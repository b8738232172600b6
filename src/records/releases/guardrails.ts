// Guardrails: the patterns that a package's tracks must match, set by the store administrator.
import { sql, type Queries } from '#engine/database.ts';

export interface Guardrail {
  pattern: string;
  createdAt: string;
}

export const guardrails = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists a package's guardrails in the order of creation. */
  list: (packageId: string) =>
    db.all<Guardrail>(sql`
      SELECT pattern, created_at AS "createdAt" FROM track_guardrails
      WHERE package_id = ${packageId} ORDER BY created_at, seq`),

  /** Lists the guardrails of all packages that an account publishes or collaborates on in a namespace. */
  ofAccount: (accountId: string, namespace: string) =>
    db.all<Guardrail & { packageId: string }>(sql`
      SELECT package_id AS "packageId", pattern, created_at AS "createdAt"
      FROM (
        SELECT track_guardrails.* FROM packages CROSS JOIN track_guardrails
        WHERE publisher_id = ${accountId} AND namespace = ${namespace} AND package_id = packages.id
        UNION ALL
        SELECT track_guardrails.* FROM collaborators CROSS JOIN packages CROSS JOIN track_guardrails
        WHERE account_id = ${accountId} AND packages.id = collaborators.package_id AND namespace = ${namespace}
          AND publisher_id <> ${accountId} AND track_guardrails.package_id = packages.id
      ) AS listed
      ORDER BY created_at, seq`),
});

export const guardrailChanges = (db: Queries) => ({
  ...guardrails(db),

  /** Adds a guardrail. Returns false if the package has it already. */
  claim: async (packageId: string, { pattern, createdAt }: Guardrail) =>
    0 <
    (await db.run(sql`
      INSERT INTO track_guardrails (package_id, pattern, created_at, seq)
      VALUES (${packageId}, ${pattern}, ${createdAt}, (SELECT COALESCE(MAX(seq), 0) + 1 FROM track_guardrails))
      ON CONFLICT DO NOTHING`)),

  /** Removes a guardrail. Returns false if the package does not have it. */
  remove: async (packageId: string, pattern: string) =>
    0 < (await db.run(sql`DELETE FROM track_guardrails WHERE package_id = ${packageId} AND pattern = ${pattern}`)),
});

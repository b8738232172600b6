// Guardrails: the patterns that a package's tracks must match, set by the store administrator.
import { sql, type Queries } from '#engine/database.ts';

export interface Guardrail {
  pattern: string;
  createdAt: string;
}

export const guardrails = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** A package's guardrails in the order in which they were set. */
  list: (packageId: string) =>
    db.all<Guardrail>(sql`
      SELECT pattern, created_at AS "createdAt" FROM track_guardrails
      WHERE package_id = ${packageId} ORDER BY created_at, rowid`),

  /** The guardrails of several packages, each with its package's id. */
  listOf: (packageIds: string[]) =>
    db.all<Guardrail & { packageId: string }>(sql`
      SELECT package_id AS "packageId", pattern, created_at AS "createdAt"
      FROM json_each(${JSON.stringify(packageIds)}) AS wanted
      CROSS JOIN track_guardrails ON track_guardrails.package_id = wanted.value
      ORDER BY created_at, track_guardrails.rowid`),
});

export const guardrailChanges = (db: Queries) => ({
  ...guardrails(db),

  /** Sets a guardrail; false when the package has it already. */
  claim: async (packageId: string, { pattern, createdAt }: Guardrail) =>
    0 <
    (await db.run(sql`
      INSERT INTO track_guardrails (package_id, pattern, created_at) VALUES (${packageId}, ${pattern}, ${createdAt})
      ON CONFLICT DO NOTHING`)),

  /** Takes a guardrail away; false when the package does not have it. */
  remove: async (packageId: string, pattern: string) =>
    0 < (await db.run(sql`DELETE FROM track_guardrails WHERE package_id = ${packageId} AND pattern = ${pattern}`)),
});

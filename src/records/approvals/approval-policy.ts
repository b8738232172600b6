// The approval policy in force.
import { noPolicy, type ApprovalPolicy } from '#domain/approvals/approval-policy.ts';
import { sql, type Queries } from '#engine/database.ts';

export const approvalPolicy = (db: Pick<Queries, 'get' | 'all'>) => ({
  inForce: async (): Promise<ApprovalPolicy> => {
    const row = await db.get<{ policy: string }>(sql`SELECT policy FROM approval_policy WHERE one = 1`);
    // A policy that an older release put into force has fewer members.
    return row === undefined ? noPolicy : { ...noPolicy, ...(JSON.parse(row.policy) as Partial<ApprovalPolicy>) };
  },
});

export const approvalPolicyChanges = (db: Queries) => ({
  ...approvalPolicy(db),

  set: (policy: ApprovalPolicy, since: string) =>
    db.run(sql`
      INSERT INTO approval_policy (one, policy, since) VALUES (1, ${JSON.stringify(policy)}, ${since})
      ON CONFLICT (one) DO UPDATE SET policy = excluded.policy, since = excluded.since`),
});

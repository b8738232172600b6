// The approval policy in force.
import { noPolicy, type ApprovalPolicy } from '#domain/approvals/approval-policy.ts';
import { sql, type CommitState, type Queries } from '#engine/database.ts';

export const approvalPolicy = (db: Pick<Queries, 'get' | 'all'>) => ({
  inForce: async (): Promise<ApprovalPolicy> => {
    const row = await db.get<{ policy: string }>(sql`SELECT policy FROM approval_policy WHERE one = 1`);
    // A policy that an older release put into force has fewer members.
    return row === undefined ? noPolicy : { ...noPolicy, ...(JSON.parse(row.policy) as Partial<ApprovalPolicy>) };
  },
});

/** The key of the policy among the results that the changes of a commit share. */
const policyOfCommit = {};

export const approvalPolicyChanges = (db: Queries, commit: CommitState) => ({
  /**
   * Read once for all changes of a commit. With a read of its own, each release in a batch waits for a server twice
   * (`LARDER_ONLY='engines: release' npm run bench -- scale`).
   */
  inForce: (): Promise<ApprovalPolicy> => commit.recall(policyOfCommit, approvalPolicy(db).inForce),

  async set(policy: ApprovalPolicy, since: string): Promise<void> {
    await db.write(sql`
      INSERT INTO approval_policy (one, policy, since) VALUES (1, ${JSON.stringify(policy)}, ${since})
      ON CONFLICT (one) DO UPDATE SET policy = excluded.policy, since = excluded.since`);
    commit.forget(policyOfCommit);
  },
});

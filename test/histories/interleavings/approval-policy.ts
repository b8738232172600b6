// The approval policy of the stores that interleavings use.
import { noPolicy, type ApprovalPolicy } from '#domain/approvals/approval-policy.ts';

export const approver = 'B'.repeat(32);
/** Releases of bin/gated wait for one approval. */
export const approvalPolicy: ApprovalPolicy = {
  ...noPolicy,
  releases: [{ people: 1, of: [approver], packages: 'bin/gated', channels: '*' }],
};

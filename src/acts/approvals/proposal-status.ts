// The state of a proposal: its result, its approvals, and the accounts that may still approve.
import { rulesFor } from '#domain/approvals/approval-policy.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { StoredApproval, Proposal } from '#records/approvals/proposals.ts';
import { approvalCounts, listApprovers } from './counted-approvals.ts';
import { evaluateApprovals } from '../gate.ts';

/** `approved` means that the proposer can carry it out by sending the same request again. */
export const proposalStates = ['waits', 'approved', 'done', 'rejected', 'fallen', 'expired'] as const;

export interface ProposalStatus {
  proposal: Proposal;
  state: (typeof proposalStates)[number];
  /** The approvals that count; all approvals if the proposal has ended. */
  approvals: StoredApproval[];
  /** The number of missing approvals. */
  missing: number;
  /**
   * The accounts that may still approve. `from` is when their approval counts, if their account was changed recently.
   */
  mayApprove: { accountId: string; username: string; from: string | null }[];
}

type ProposalStatusRecords = Pick<StoreRecords, 'accounts' | 'approvalPolicy' | 'proposals' | 'totpSecrets'>;

/** Returns the state of a proposal; refuses an unknown number. */
export async function readProposalStatus(
  records: ProposalStatusRecords,
  number: number,
  at: string,
): Promise<ProposalStatus> {
  const proposal = await records.proposals.find(number);
  if (proposal !== undefined) return computeProposalStatus(records, proposal, at);
  throw new Refusal(
    'resource-not-found',
    `There is no proposal ${String(number)}. List the open proposals with 'larder approval list'.`,
  );
}

/** Returns the state of a proposal that the caller has read already. */
export async function computeProposalStatus(
  records: ProposalStatusRecords,
  proposal: Proposal,
  at: string,
): Promise<ProposalStatus> {
  const { number, lines, actor, state, endsAt } = proposal;
  const allApprovals = await records.proposals.approvals(number);
  const ended = { proposal, approvals: allApprovals, missing: 0, mayApprove: [] };
  if (state !== 'open') return { ...ended, state };
  if (endsAt <= at) return { ...ended, state: 'expired' };
  const rules = rulesFor(await records.approvalPolicy.inForce(), lines);
  const { missing } = await evaluateApprovals(records, { rules, actor, approvals: allApprovals, at });
  const approvals = new Set<StoredApproval>();
  const mayApprove = new Map<string, ProposalStatus['mayApprove'][number]>();
  for (const rule of rules) {
    const counted: StoredApproval[] = [];
    for (const approval of allApprovals) if (await approvalCounts(records, approval, rule)) counted.push(approval);
    counted.forEach((approval) => approvals.add(approval));
    for (const { id, username, countsFrom } of await listApprovers(records, rule, at)) {
      if (id === actor || counted.some(({ accountId }) => accountId === id)) continue;
      mayApprove.set(id, { accountId: id, username, from: countsFrom ?? null });
    }
  }
  const who = [...mayApprove.values()].sort((approver, other) => approver.username.localeCompare(other.username));
  const counting = allApprovals.filter((approval) => approvals.has(approval));
  return { proposal, approvals: counting, missing, state: missing === 0 ? 'approved' : 'waits', mayApprove: who };
}

// How a proposal stands: what came of it, who has approved, and who still may.
import { rulesFor } from '#domain/approvals.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import type { Approval, Proposal } from '#records/proposals.ts';
import { askedBy, counts, judged } from './gate.ts';
import { recentlyTouched } from './proposals.ts';

/** `approved` means that whoever proposed it does it by the same request again. */
export const proposalStates = ['waits', 'approved', 'done', 'rejected', 'fallen', 'expired'] as const;

export interface ProposalState {
  proposal: Proposal;
  state: (typeof proposalStates)[number];
  approvals: Approval[];
  /** How many are missing. */
  missing: number;
  /** Who may still approve, by user name; `from` is when what he says counts, where somebody else changed his account. */
  mayApprove: { accountId: string; username: string; from: string | null }[];
}

type Read = Pick<Records, 'accounts' | 'approvalPolicy' | 'proposals'>;

/** The proposal of a number as it stands; refuses one that is not there. */
export async function proposalState(records: Read, number: number, at: string): Promise<ProposalState> {
  const proposal = await records.proposals.find(number);
  if (proposal !== undefined) return stateOf(records, proposal, at);
  throw new Refusal(
    'resource-not-found',
    `There is no proposal ${String(number)}; 'larder approval list' shows those that wait.`,
  );
}

/** The same for one that was found. */
export async function stateOf(records: Read, proposal: Proposal, at: string): Promise<ProposalState> {
  const { number, lines, actor, state, endsAt } = proposal;
  const approvals = await records.proposals.approvals(number);
  const ended = { proposal, approvals, missing: 0, mayApprove: [] };
  if (state !== 'open') return { ...ended, state };
  if (endsAt <= at) return { ...ended, state: 'expired' };
  const rules = rulesFor(await records.approvalPolicy.inForce(), lines);
  const { missing } = await judged(records, { rules, actor, by: approvals });
  const mayApprove = new Map<string, ProposalState['mayApprove'][number]>();
  for (const rule of rules) {
    for (const { id, username } of await askedBy(records, rule)) {
      if (id === actor || approvals.some((one) => one.accountId === id && counts(rule, one))) continue;
      const from = recentlyTouched(await records.accounts.touched(id), id, at) ?? null;
      mayApprove.set(id, { accountId: id, username, from });
    }
  }
  const who = [...mayApprove.values()].sort((one, other) => one.username.localeCompare(other.username));
  return { proposal, approvals, missing, state: missing === 0 ? 'approved' : 'waits', mayApprove: who };
}

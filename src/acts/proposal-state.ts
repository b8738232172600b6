// The state of a proposal: its result, its approvals, and the accounts that may still approve.
import { rulesFor } from '#domain/approvals.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import type { Approval, Proposal } from '#records/proposals.ts';
import { approvalCounts, approversFor } from './counted-approvals.ts';
import { judged } from './gate.ts';

/** `approved` means that the proposer can carry it out by sending the same request again. */
export const proposalStates = ['waits', 'approved', 'done', 'rejected', 'fallen', 'expired'] as const;

export interface ProposalState {
  proposal: Proposal;
  state: (typeof proposalStates)[number];
  /** The approvals that count; all approvals if the proposal has ended. */
  approvals: Approval[];
  /** The number of missing approvals. */
  missing: number;
  /**
   * The accounts that may still approve. `from` is when their approval counts, if their account was changed recently.
   */
  mayApprove: { accountId: string; username: string; from: string | null }[];
}

type Read = Pick<Records, 'accounts' | 'approvalPolicy' | 'proposals' | 'totpSecrets'>;

/** Returns the state of a proposal; refuses an unknown number. */
export async function proposalState(records: Read, number: number, at: string): Promise<ProposalState> {
  const proposal = await records.proposals.find(number);
  if (proposal !== undefined) return stateOf(records, proposal, at);
  throw new Refusal(
    'resource-not-found',
    `There is no proposal ${String(number)}; 'larder approval list' shows those that wait.`,
  );
}

/** The same for a proposal that is already loaded. */
export async function stateOf(records: Read, proposal: Proposal, at: string): Promise<ProposalState> {
  const { number, lines, actor, state, endsAt } = proposal;
  const given = await records.proposals.approvals(number);
  const ended = { proposal, approvals: given, missing: 0, mayApprove: [] };
  if (state !== 'open') return { ...ended, state };
  if (endsAt <= at) return { ...ended, state: 'expired' };
  const rules = rulesFor(await records.approvalPolicy.inForce(), lines);
  const { missing } = await judged(records, { rules, actor, by: given, at });
  const approvals = new Set<Approval>();
  const mayApprove = new Map<string, ProposalState['mayApprove'][number]>();
  for (const rule of rules) {
    const counted: Approval[] = [];
    for (const one of given) if (await approvalCounts(records, one, rule)) counted.push(one);
    counted.forEach((one) => approvals.add(one));
    for (const { id, username, countsFrom } of await approversFor(records, rule, at)) {
      if (id === actor || counted.some(({ accountId }) => accountId === id)) continue;
      mayApprove.set(id, { accountId: id, username, from: countsFrom ?? null });
    }
  }
  const who = [...mayApprove.values()].sort((one, other) => one.username.localeCompare(other.username));
  const counting = given.filter((one) => approvals.has(one));
  return { proposal, approvals: counting, missing, state: missing === 0 ? 'approved' : 'waits', mayApprove: who };
}

// Presents proposals.
import type { ProposalStatus } from '#acts/approvals/proposal-status.ts';
import { fingerprintOfSshKey } from '#domain/approvals/ssh-key.ts';
import type { Proposal } from '#contract/wire.ts';

export function presentProposal({ proposal, state, approvals, missing, mayApprove }: ProposalStatus): Proposal {
  const { number, act, object, actor, lines, proposedAt, endsAt, endedAt, endedBy, because } = proposal;
  return {
    proposal: number,
    state,
    act,
    object,
    'proposed-by': actor,
    'proposed-at': proposedAt,
    until: endsAt,
    lines: [...lines],
    missing,
    approvals: approvals.map(({ accountId, username, at, key }) => ({
      'account-id': accountId,
      username,
      at,
      'signed-with': key === null ? null : fingerprintOfSshKey(key),
    })),
    'may-approve': mayApprove.map(({ accountId, username, from }) => ({ 'account-id': accountId, username, from })),
    ended: endedAt === null ? null : { at: endedAt, by: endedBy, because },
  };
}

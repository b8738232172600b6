import { readProposalStatus, type ProposalStatus } from '#acts/approvals/proposal-status.ts';
import { account } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import type { Principal } from '#domain/tokens/principal.ts';
import { Refusal } from '#domain/refusal.ts';
import { presentProposal } from './present.ts';

export const readProposal = operation({
  name: 'read_proposal',
  method: 'GET',
  path: '/internal/v1/proposals/:number',
  since: 0,
  summary:
    'Get a proposal: its changes, its approvals and its possible approvers. Only these approvers and the account that proposed it have access.',
  access: account('store'),
  response: 'Proposal',

  async handle({ params, principal, records, now }) {
    return presentProposal(await proposalFor(principal, params.number, records, timestamp(now())));
  },
});

/** The proposal with this number, for the proposer, its approvers and the overseers of the store; refused for other accounts. */
export async function proposalFor(
  { accountId, storeAdministrator }: Principal,
  number: string,
  records: Pick<HandlerRecords, 'accounts' | 'approvalPolicy' | 'proposals' | 'totpSecrets'>,
  at: string,
): Promise<ProposalStatus> {
  const shown = await readProposalStatus(records, numberOf(number), at);
  const isAsked = [...shown.approvals, ...shown.mayApprove].some((approver) => approver.accountId === accountId);
  const roles = await records.accounts.rolesOf(accountId);
  const oversees = roles.some((role) => role === 'transfer-approver' || role === 'auditor');
  if (isAsked || oversees || storeAdministrator || shown.proposal.actor === accountId) return shown;
  throw noProposal(number);
}

/** Parses the number in a path; an invalid number is an unknown proposal. */
export function numberOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw noProposal(text);
}

const noProposal = (text: string): Refusal =>
  new Refusal('resource-not-found', `There is no proposal ${text.slice(0, 20)}, or this account has no access to it.`);

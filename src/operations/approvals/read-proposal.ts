import { proposalState } from '#acts/proposal-state.ts';
import { account } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { presentProposal } from './present.ts';

export const readProposal = operation({
  name: 'read_proposal',
  method: 'GET',
  path: '/internal/v1/proposals/:number',
  since: 0,
  summary:
    'Say what is proposed, what it changes, who has approved and who may; for them, and for whoever proposed it.',
  access: account('store'),
  response: 'Proposal',

  async handle({ params, principal, records, now }) {
    const shown = await proposalState(records, numberOf(params.number), timestamp(now()));
    const { accountId, storeAdministrator } = principal;
    const isAsked = [...shown.approvals, ...shown.mayApprove].some((one) => one.accountId === accountId);
    const roles = await records.accounts.rolesOf(accountId);
    const oversees = roles.some((role) => role === 'transfer-approver' || role === 'auditor');
    if (isAsked || oversees || storeAdministrator || shown.proposal.actor === accountId) return presentProposal(shown);
    throw noProposal(params.number);
  },
});

/** The number in an address; what is none is the number of nothing. */
export function numberOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw noProposal(text);
}

const noProposal = (text: string): Refusal =>
  new Refusal('resource-not-found', `There is no proposal ${text.slice(0, 20)}, or it does not concern this account.`);

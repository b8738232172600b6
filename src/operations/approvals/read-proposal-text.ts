import { textToSign } from '#acts/approvals/text-to-sign.ts';
import { account } from '#access/access-rules.ts';
import { shownFile } from '#http/response/content-disposition.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { proposalFor } from './read-proposal.ts';

export const readProposalText = operation({
  name: 'read_proposal_text',
  method: 'GET',
  path: '/internal/v1/proposals/:number/text',
  since: 0,
  summary: 'Get the text of a proposal, for approvers who sign it with an approver key.',
  access: account('store'),
  produces: ['text/plain'],
  headers: ['content-disposition'],
  refuses: ['conflict'],

  async handle({ params, principal, records, now }) {
    const { proposal } = await proposalFor(principal, params.number, records, timestamp(now()));
    const body = await textToSign(records, proposal);
    const headers = { 'content-type': 'text/plain; charset=utf-8', ...shownFile(`proposal-${params.number}.txt`) };
    return new OperationResponse({ headers, body });
  },
});

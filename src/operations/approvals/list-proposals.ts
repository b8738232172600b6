import { computeProposalStatus } from '#acts/approvals/proposal-status.ts';
import { overseer } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { numberBefore, pageOf, pageSize } from '../page.ts';
import { presentProposal } from './present.ts';

/** The maximum number of lines per proposal in the list: a transfer can have ten thousand. `read_proposal` returns all. */
const linesShown = 100;

export const listProposals = operation({
  name: 'list_proposals',
  method: 'GET',
  path: '/internal/v1/proposals',
  since: 0,
  summary: 'List the proposals that wait for approvals, newest first, page by page.',
  access: overseer('transfer-approver', 'auditor'),
  query: 'ListProposalsQuery',
  response: 'ListProposalsResponse',

  async handle({ query, records, now }) {
    const size = pageSize(query);
    const at = timestamp(now());
    const openAt = query.all === 'true' ? undefined : at;
    const rows = await records.proposals.list({ before: numberBefore(query), openAt }, size + 1);
    const { entries, next } = pageOf(rows, size, ({ number }) => [String(number)]);
    const proposals = [];
    for (const proposal of entries) {
      const { lines, ...rest } = presentProposal(await computeProposalStatus(records, proposal, at));
      proposals.push({ ...rest, lines: lines.slice(0, linesShown) });
    }
    return { proposals, 'next-cursor': next };
  },
});

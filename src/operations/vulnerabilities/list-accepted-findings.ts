import { overseer } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { pageOf, pageSize, placeOf } from '../page.ts';
import { presentAcceptedFinding } from './present.ts';

export const listAcceptedFindings = operation({
  name: 'list_accepted_findings',
  method: 'GET',
  path: '/internal/v1/accepted-findings',
  since: 0,
  summary: 'List the accepted vulnerabilities of all packages, the first to end first, also the ended ones.',
  access: overseer('auditor'),
  query: 'ListAcceptedFindingsQuery',
  response: 'ListAcceptedFindingsResponse',

  async handle({ query, records }) {
    const size = pageSize(query);
    const rows = await records.acceptedFindings.list(placeOf(query, ['', '', ''] as const), size + 1);
    const { entries, next } = pageOf(rows, size, ({ until, packageId, vulnerability }) => [
      until,
      packageId,
      vulnerability,
    ]);
    return { accepted: entries.map(presentAcceptedFinding), 'next-cursor': next };
  },
});

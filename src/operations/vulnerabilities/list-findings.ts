import { overseer } from '#access/access-rules.ts';
import { findFleet, listRevisionFindings } from '#acts/vulnerabilities/revision-findings.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { pageOf, placeOf } from '../page.ts';
import { needsAttention, presentRevisionFindings, toFindingFilter } from './present.ts';

/** Each package can have thousands of findings. */
const packagesPerPage = 20;

export const listFindings = operation({
  name: 'list_findings',
  method: 'GET',
  path: '/internal/v1/findings',
  since: 0,
  summary:
    'List the known vulnerabilities of the revisions that channels and devices have, a few packages per page. A page can be empty and have a next one.',
  access: overseer('auditor'),
  query: 'ListFindingsQuery',
  response: 'ListFindingsResponse',
  refuses: ['resource-not-found', 'conflict'],

  async handle({ query, records, config, now }) {
    const [namespace, name] = placeOf(query, ['', ''] as const);
    const packages = await records.packages.after(namespace, name, packagesPerPage + 1);
    const { entries, next } = pageOf(packages, packagesPerPage, (entry) => [entry.namespace, entry.name]);
    const fleet = await findFleet(records, query.fleet, config);
    const context = { records, at: timestamp(now()), remember: config.devices.remember, fleet };
    const revisions = await listRevisionFindings(context, entries, toFindingFilter(query));
    return { revisions: revisions.filter(needsAttention).map(presentRevisionFindings), 'next-cursor': next };
  },
});

import { onPackage } from '#access/access-rules.ts';
import { listRevisionFindings } from '#acts/vulnerabilities/revision-findings.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { presentRevisionFindings, toFindingFilter } from './present.ts';

export const listPackageFindings = operation({
  name: 'list_package_findings',
  method: 'GET',
  path: '/internal/v1/packages/:namespace/:name/findings',
  since: 0,
  summary: 'List the known vulnerabilities of the revisions of a package that channels and devices have.',
  access: onPackage('package-view-revisions'),
  query: 'ListPackageFindingsQuery',
  response: 'ListPackageFindingsResponse',

  async handle({ package: subject, query, records, config, now }) {
    const context = { records, at: timestamp(now()), remember: config.devices.remember };
    const revisions = await listRevisionFindings(context, [subject], toFindingFilter(query));
    return { revisions: revisions.map(presentRevisionFindings) };
  },
});

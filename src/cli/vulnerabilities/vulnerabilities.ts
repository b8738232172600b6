// larder vulnerabilities
import {
  findFleet,
  listRevisionFindings,
  type FindingFilter,
  type FindingsOfRevision,
} from '#acts/vulnerabilities/revision-findings.ts';
import { timestamp } from '#domain/clock.ts';
import { severities, type VulnerabilitySeverity } from '#domain/vulnerabilities/finding.ts';
import { describeCoverage } from '#acts/vulnerabilities/effective-findings.ts';
import { flattenFindings, needsAttention, presentRevisionFindings } from '#operations/vulnerabilities/present.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { command } from '../frame/command.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { parseTimeOption } from '../frame/time-option.ts';
import { findPackage } from '../packages/package-argument.ts';

export const vulnerabilities = command({
  name: 'vulnerabilities',
  summary: 'List the known vulnerabilities of the revisions and images that channels and devices have.',
  description:
    'The list has findings of the feeds in force that need action, the severest first. A revision with unknown contents, and a release ' +
    'that no feed covers, are listed below: they are never counted as clean. DEVICES counts the devices that report the revision, among ' +
    'the 10,000 that called last.',
  options: {
    package: { type: 'string', value: 'NAMESPACE/NAME', summary: 'Only this package.' },
    severity: {
      type: 'string',
      value: 'SEVERITY',
      summary: 'Only findings of at least this severity.',
      choices: severities,
    },
    'known-exploited': { type: 'boolean', summary: 'Only findings in the catalog of exploited vulnerabilities.' },
    fleet: {
      type: 'string',
      value: 'FLEET',
      summary: 'Only revisions that devices of this fleet have or get; DEVICES counts only its devices.',
    },
    'new-since': {
      type: 'string',
      value: 'DATE',
      summary: 'Only findings that the package has had since this date, and not before.',
    },
    all: { type: 'boolean', summary: 'List also findings that are accepted or suppressed by a VEX statement.' },
  },
  examples: ['larder vulnerabilities', 'larder vulnerabilities --package snap/hello --severity high --known-exploited'],

  run({ options, data, world }) {
    const filter: FindingFilter = {
      severity: options.severity as VulnerabilitySeverity | undefined,
      knownExploited: options['known-exploited'],
      newSince:
        options['new-since'] === undefined ? undefined : timestamp(parseTimeOption('new-since', options['new-since'])),
      all: options.all,
    };
    return withStore({ data, world }, async (store) => {
      const revisions = await listAll(store, options, filter);
      return {
        text: formatFindings(revisions, filter),
        json: { revisions: revisions.map(presentRevisionFindings) },
      };
    });
  },
});

/** The number of packages per read. */
const packagesPerRead = 50;

async function listAll(
  { records, now, config }: OpenStore,
  { package: packageText, fleet: fleetName }: { package: string | undefined; fleet: string | undefined },
  filter: FindingFilter,
): Promise<FindingsOfRevision[]> {
  const fleet = await findFleet(records, fleetName, config);
  const context = { records, at: timestamp(now()), remember: config.devices.remember, fleet };
  if (packageText !== undefined)
    return listRevisionFindings(context, [await findPackage(records, packageText)], filter);
  const listed: FindingsOfRevision[] = [];
  for (let last: { namespace: string; name: string } | undefined = { namespace: '', name: '' }; last;) {
    const packages: PublishedPackage[] = await records.packages.after(last.namespace, last.name, packagesPerRead);
    const revisions = await listRevisionFindings(context, packages, filter);
    listed.push(...revisions.filter(needsAttention));
    last = packages.length < packagesPerRead ? undefined : packages.at(-1);
  }
  return listed;
}

function formatFindings(revisions: readonly FindingsOfRevision[], { all }: FindingFilter): string {
  const listed = flattenFindings(revisions);
  const headings = ['SEVERITY', 'VULNERABILITY', 'PACKAGE', 'REVISION', 'CHANNELS', 'COMPONENT', 'FIXED IN', 'DEVICES'];
  const rows = listed.map(({ revision, finding }) => [
    finding.isExploited ? `${finding.severity}, exploited` : finding.severity,
    finding.vulnerability,
    nameOf(revision),
    String(revision.revision),
    revision.channels.join(' ') || '-',
    `${finding.component.name} ${finding.component.version}`,
    finding.fixed ?? '-',
    revision.devices === undefined ? '-' : String(revision.devices),
    ...(all === true ? [describeState(finding)] : []),
  ]);
  const incomplete = revisions.flatMap((revision) => {
    const reason = describeCoverage(revision);
    return reason === undefined ? [] : [`${nameOf(revision)} revision ${String(revision.revision)}: ${reason}`];
  });
  return [
    rows.length === 0 ? 'There are no such findings.' : table(all === true ? [...headings, 'STATE'] : headings, rows),
    ...(incomplete.length === 0
      ? []
      : ['Not known to be free of vulnerabilities:', ...incomplete.map((line) => `  ${line}`)]),
  ].join('\n');
}

const nameOf = ({ package: { namespace, name }, resource }: FindingsOfRevision): string =>
  `${namespace}/${name}${resource === null ? '' : ` ${resource}`}`;

const describeState = ({ state, reason, source, until }: FindingsOfRevision['findings'][number]): string =>
  state === 'open'
    ? state
    : `${state.replaceAll('_', ' ')} ${until === null ? `by ${source ?? ''}` : `until ${until.slice(0, 10)}`}: ${reason ?? ''}`;

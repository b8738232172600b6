// The known vulnerabilities of a package.
import { onPackage } from '#access/access-rules.ts';
import { describeCoverage } from '#acts/vulnerabilities/effective-findings.ts';
import { listRevisionFindings, type FindingsOfRevision } from '#acts/vulnerabilities/revision-findings.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import type { Services } from '#http/services.ts';
import { timestamp } from '#domain/clock.ts';
import { flattenFindings } from '#operations/vulnerabilities/present.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { addressOf } from '../packages/address.ts';
import { renderPackageHeader } from '../packages/package-header.ts';
import { badge } from '../parts/notice.ts';
import { table } from '../parts/table.ts';
import { count } from '../parts/values.ts';
import { screen } from '../screen.ts';

type ShownFinding = ReturnType<typeof flattenFindings>[number];

/** The maximum number of findings to show. The command lists all. */
const maxRows = 50;

export const consolePackageVulnerabilities = screen({
  name: 'console_package_vulnerabilities',
  path: '/console/packages/:namespace/:name/vulnerabilities',
  summary: 'List the known vulnerabilities of a package, the highest risk first.',
  access: onPackage('package-view-releases'),
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show(call) {
    const { package: subject } = call;
    return {
      title: `Known vulnerabilities of ${subject.namespace}/${subject.name}`,
      heading: await renderPackageHeader(call, subject, 'vulnerabilities'),
      content: await renderFindings(call, subject),
    };
  },
});

async function renderFindings(
  { records, now, config }: Pick<Services, 'records' | 'now' | 'config'>,
  subject: PublishedPackage,
): Promise<Html> {
  const context = { records, at: timestamp(now()), remember: config.devices.remember };
  const revisions = await listRevisionFindings(context, [subject], { all: true });
  const findings = flattenFindings(revisions);
  const open = findings.filter(({ finding }) => finding.state === 'open');
  const shown = [...open, ...findings.filter(({ finding }) => finding.state !== 'open')].slice(0, maxRows);
  return html`${incompleteList(revisions)} ${findingsTable(subject, shown)}
  ${
    findings.length > shown.length
      ? html`<p class="hint">
          The table has the first ${count(shown.length)} of ${count(findings.length)} findings; the command
          <code>larder vulnerabilities --package ${subject.namespace}/${subject.name} --all</code> lists all.
        </p>`
      : nothing
  }`;
}

/** The revisions with incomplete findings. They are never counted as clean. */
function incompleteList(revisions: readonly FindingsOfRevision[]): Html {
  const incomplete = revisions.flatMap((listed) => {
    const reason = describeCoverage(listed);
    return reason === undefined ? [] : [html`<li>${labelOf(listed)}: ${reason}</li>`];
  });
  return incomplete.length === 0
    ? nothing
    : html`<p>These revisions are not known to be free of vulnerabilities:</p>
        <ul>
          ${incomplete.slice(0, maxRows)}
        </ul>`;
}

export const findingsTable = (subject: Pick<PublishedPackage, 'namespace' | 'name'>, rows: readonly ShownFinding[]) =>
  table<ShownFinding>({
    caption: 'Known vulnerabilities',
    columns: [
      {
        heading: 'Vulnerability',
        cell: ({ finding: { vulnerability } }) =>
          html`<a href="${addressOf(subject, 'vulnerabilities', vulnerability)}">${vulnerability}</a>`,
      },
      { heading: 'Severity', cell: ({ finding }) => riskOf(finding) },
      { heading: 'Revision', cell: ({ revision }) => labelOf(revision) },
      { heading: 'Channels', cell: ({ revision }) => revision.channels.join(', ') || 'none' },
      { heading: 'Component', cell: ({ finding: { component } }) => `${component.name} ${component.version}` },
      { heading: 'Fixed in', cell: ({ finding }) => finding.fixed ?? 'no version' },
      {
        heading: 'Devices',
        number: true,
        cell: ({ revision: { devices } }) => (devices === undefined ? 'unknown' : count(devices)),
      },
      { heading: 'State', cell: ({ finding }) => describeState(finding) },
    ],
    rows,
    empty: 'No revision in a channel or on a device has a known vulnerability, as far as feeds cover it.',
  });

const labelOf = ({ resource, revision }: FindingsOfRevision): string =>
  resource === null ? `Revision ${String(revision)}` : `Resource ${resource}, revision ${String(revision)}`;

export const riskOf = ({ severity, isExploited }: Pick<ShownFinding['finding'], 'severity' | 'isExploited'>): Html =>
  html`${severity}${isExploited ? html` ${badge('warn', 'known to be exploited')}` : nothing}`;

const describeState = ({ state, reason, source, until }: ShownFinding['finding']): string => {
  if (state === 'open') return 'open';
  if (until !== null) return `accepted until ${until.slice(0, 10)}: ${reason ?? ''}`;
  return `${state.replace('_', ' ')}, says ${source ?? ''}: ${reason ?? ''}`;
};

// Presents findings for the operations, the command and the console.
import { describeCoverage } from '#acts/vulnerabilities/effective-findings.ts';
import type { FindingFilter, FindingsOfRevision } from '#acts/vulnerabilities/revision-findings.ts';
import type {
  AcceptedFinding as AcceptedFindingOnWire,
  ListPackageFindingsQuery,
  FindingsOfRevision as FindingsOfRevisionOnWire,
} from '#contract/wire.ts';
import { timestamp } from '#domain/clock.ts';
import type { ListedAcceptance } from '#records/vulnerabilities/accepted-findings.ts';
import { compareRisks } from '#domain/vulnerabilities/component-vulnerability.ts';

/** The filter in a query. */
export const toFindingFilter = (query: ListPackageFindingsQuery): FindingFilter => ({
  severity: query.severity,
  knownExploited: query['known-exploited'] === 'true',
  newSince: query['new-since'] === undefined ? undefined : timestamp(new Date(query['new-since'])),
  all: query.all === 'true',
});

/** An acceptance on the wire. */
export const presentAcceptedFinding = (accepted: ListedAcceptance): AcceptedFindingOnWire => ({
  package: `${accepted.namespace}/${accepted.name}`,
  vulnerability: accepted.vulnerability,
  severity: accepted.severity,
  'known-exploited': accepted.isExploited,
  until: accepted.until,
  reason: accepted.reason,
  'accepted-at': accepted.acceptedAt,
  'accepted-by': accepted.acceptedBy,
});

/** Whether a revision belongs to a list of the store: it has a selected finding, or is not known to be clean. */
export const needsAttention = (listed: FindingsOfRevision): boolean =>
  listed.findings.length > 0 || describeCoverage(listed) !== undefined;

/** Sorts findings of several revisions by their risk. */
export const flattenFindings = (
  revisions: readonly FindingsOfRevision[],
): { revision: FindingsOfRevision; finding: FindingsOfRevision['findings'][number] }[] =>
  revisions
    .flatMap((revision) => revision.findings.map((finding) => ({ revision, finding })))
    .sort((first, second) => compareRisks(first.finding, second.finding));

/** The findings of a revision on the wire. */
export const presentRevisionFindings = (listed: FindingsOfRevision): FindingsOfRevisionOnWire => ({
  package: `${listed.package.namespace}/${listed.package.name}`,
  resource: listed.resource,
  revision: listed.revision,
  version: listed.version,
  channels: listed.channels,
  devices: listed.devices ?? null,
  coverage: listed.coverage ?? 'not-matched',
  release: listed.release,
  incomplete: listed.isIncomplete,
  unchecked: listed.unchecked,
  'open-findings': listed.open,
  findings: listed.findings.map((finding) => ({
    vulnerability: finding.vulnerability,
    advisories: finding.advisories,
    severity: finding.severity,
    'known-exploited': finding.isExploited,
    component: {
      ecosystem: finding.component.ecosystem,
      name: finding.component.name,
      version: finding.component.version,
    },
    'fixed-in': finding.fixed,
    summary: finding.summary,
    since: finding.since,
    state: finding.state,
    ...(finding.reason !== null && { reason: finding.reason }),
    ...(finding.source !== null && { source: finding.source }),
    ...(finding.until !== null && { until: finding.until }),
  })),
});

// Counts the known vulnerabilities of packages, for the console and the metrics.
import { isAccepted, type VulnerabilityRisk } from '#domain/vulnerabilities/acceptance.ts';
import { matchCoverages, severities, type VulnerabilitySeverity } from '#domain/vulnerabilities/finding.ts';
import type { StoreRecords } from '#records/index.ts';

export interface PackageFindingCounts {
  namespace: string;
  name: string;
  /** The open findings. */
  open: Record<VulnerabilitySeverity, number>;
  /** The open findings that are known to be exploited. */
  exploited: number;
  accepted: number;
}

const noFindings = (): Record<VulnerabilitySeverity, number> =>
  Object.fromEntries(severities.map((severity) => [severity, 0])) as Record<VulnerabilitySeverity, number>;

/** Counts the findings of each package that has some, those with the highest risk first. */
export async function countFindings(
  { packageFindings }: Pick<StoreRecords, 'packageFindings'>,
  at: string,
): Promise<PackageFindingCounts[]> {
  const counts = new Map<string, PackageFindingCounts>();
  for (const { namespace, name, exploited, ...open } of await packageFindings.countOpen())
    counts.set(`${namespace}/${name}`, { namespace, name, open, exploited, accepted: 0 });
  for (const { namespace, name, findings, acceptance, ...risk } of await packageFindings.countAccepted()) {
    const ofPackage = counts.get(`${namespace}/${name}`);
    // A transfer may have changed the findings between the two queries.
    if (ofPackage === undefined || !isAccepted(risk, acceptance, at)) continue;
    ofPackage.accepted += findings;
    ofPackage.open[risk.severity] -= findings;
    if (risk.isExploited) ofPackage.exploited -= findings;
  }
  return [...counts.values()].sort(compareRisks);
}

/** Orders packages by the risk of their findings, the highest first, then by name. */
function compareRisks(first: PackageFindingCounts, second: PackageFindingCounts): number {
  if (first.exploited !== second.exploited) return second.exploited - first.exploited;
  for (const severity of severities)
    if (first.open[severity] !== second.open[severity]) return second.open[severity] - first.open[severity];
  return first.namespace === second.namespace
    ? compareTexts(first.name, second.name)
    : compareTexts(first.namespace, second.namespace);
}

const compareTexts = (first: string, second: string): number => (first < second ? -1 : 1);

/** The counts of the whole store. They cost the same in a store with many packages, as long as no finding and no release changes. */
export async function countStoreFindings({ packageFindings }: Pick<StoreRecords, 'packageFindings'>, at: string) {
  const findings = noFindings();
  let [exploitedFindings, acceptedFindings] = [0, 0];
  const count = ({ severity, isExploited }: VulnerabilityRisk, added: number): void => {
    findings[severity] += added;
    if (isExploited) exploitedFindings += added;
  };
  for (const { findings: open, ...risk } of await packageFindings.countOpenOfStore()) count(risk, open);
  for (const { findings: covered, acceptance, ...risk } of await packageFindings.countAccepted()) {
    if (!isAccepted(risk, acceptance, at)) continue;
    acceptedFindings += covered;
    count(risk, -covered);
  }
  const findingCoverage = Object.fromEntries(
    [...matchCoverages, 'partly-covered', 'not-matched'].map((coverage) => [coverage, 0]),
  );
  for (const { coverage, isPartial, revisions } of await packageFindings.countCoverage(at)) {
    const label = coverage === 'covered' && isPartial === 1 ? 'partly-covered' : (coverage ?? 'not-matched');
    findingCoverage[label] = (findingCoverage[label] ?? 0) + revisions;
  }
  return { findings, exploitedFindings, acceptedFindings, findingCoverage };
}

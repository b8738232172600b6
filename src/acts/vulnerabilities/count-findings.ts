// Counts the known vulnerabilities of packages, for the console and the metrics.
import { isAccepted } from '#domain/vulnerabilities/acceptance.ts';
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
  for (const { namespace, name, findings, acceptance, ...risk } of await packageFindings.countOpen()) {
    const key = `${namespace}/${name}`;
    const ofPackage = counts.get(key) ?? { namespace, name, open: noFindings(), exploited: 0, accepted: 0 };
    counts.set(key, ofPackage);
    if (acceptance !== undefined && isAccepted(risk, acceptance, at)) ofPackage.accepted += findings;
    else {
      ofPackage.open[risk.severity] += findings;
      if (risk.isExploited) ofPackage.exploited += findings;
    }
  }
  return [...counts.values()].sort(
    (first, second) =>
      second.exploited - first.exploited ||
      severities.map((severity) => second.open[severity] - first.open[severity]).find((order) => order !== 0) ||
      (`${first.namespace}/${first.name}` < `${second.namespace}/${second.name}` ? -1 : 1),
  );
}

/** The counts of the whole store, from the counts of its packages. */
export async function countStoreFindings(
  records: Pick<StoreRecords, 'packageFindings'>,
  packages: readonly PackageFindingCounts[],
  at: string,
) {
  const findings = noFindings();
  let [exploitedFindings, acceptedFindings] = [0, 0];
  for (const { open, exploited, accepted } of packages) {
    for (const severity of severities) findings[severity] += open[severity];
    exploitedFindings += exploited;
    acceptedFindings += accepted;
  }
  const findingCoverage = Object.fromEntries(
    [...matchCoverages, 'partly-covered', 'not-matched'].map((coverage) => [coverage, 0]),
  );
  for (const { coverage, isPartial, revisions } of await records.packageFindings.countCoverage(at)) {
    const label = coverage === 'covered' && isPartial === 1 ? 'partly-covered' : (coverage ?? 'not-matched');
    findingCoverage[label] = (findingCoverage[label] ?? 0) + revisions;
  }
  return { findings, exploitedFindings, acceptedFindings, findingCoverage };
}

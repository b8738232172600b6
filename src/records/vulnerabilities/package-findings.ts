// Findings of packages: the vulnerabilities in the revisions that channels and devices have, and when each was found.
import type { AcceptedRisk, VulnerabilityRisk } from '#domain/vulnerabilities/acceptance.ts';
import type { MatchCoverage } from '#domain/vulnerabilities/finding.ts';
import type { VexSuppression } from '#domain/vulnerabilities/vex.ts';
import { list, sql, type Queries, type ReadQueries } from '#engine/database.ts';

export interface PackageFinding extends VulnerabilityRisk {
  vulnerability: string;
  /** By VEX statements. `open` if any revision has it open. */
  state: 'open' | VexSuppression['status'];
  /** When a revision in a channel or on a device was first found to have it, RFC 3339. */
  since: string;
}

/** The number of findings of a package with the same risk and acceptance. */
export interface FindingCount extends VulnerabilityRisk {
  namespace: string;
  name: string;
  findings: number;
  /** The acceptance that may cover them. */
  acceptance: AcceptedRisk | undefined;
}

interface FindingCountRow extends Omit<FindingCount, 'isExploited' | 'acceptance'> {
  isExploited: 0 | 1;
}

interface AcceptedCountRow extends FindingCountRow {
  acceptedSeverity: VulnerabilityRisk['severity'];
  acceptedExploited: 0 | 1;
  until: string;
}

type PackageFindingRow = Omit<PackageFinding, 'isExploited'> & { isExploited: 0 | 1 };

export const packageFindings = (db: ReadQueries) => ({
  async ofPackage(packageId: string): Promise<PackageFinding[]> {
    const rows = await db.all<PackageFindingRow>(sql`
      SELECT vulnerability, severity, is_exploited AS "isExploited", state, since FROM package_findings
      WHERE package_id = ${packageId} ORDER BY vulnerability`);
    return rows.map((row) => ({ ...row, isExploited: row.isExploited === 1 }));
  },

  /** Counts the findings of each package that no VEX statement suppresses. */
  async countOpen(): Promise<FindingCount[]> {
    // Acceptances are few, so that counting them apart takes half the time of a join of all findings (`npm run bench -- console`).
    const all = await db.all<FindingCountRow>(sql`
      SELECT namespace, name, severity, "isExploited", findings
      FROM (
        SELECT package_id, severity, is_exploited AS "isExploited", count(*) AS findings FROM package_findings
        WHERE state = 'open' GROUP BY package_id, severity, is_exploited) AS counted
      JOIN packages ON packages.id = counted.package_id`);
    const accepted = await db.all<AcceptedCountRow>(sql`
      SELECT namespace, name, finding.severity, finding.is_exploited AS "isExploited", count(*) AS findings,
        accepted.severity AS "acceptedSeverity", accepted.is_exploited AS "acceptedExploited", until
      FROM accepted_findings AS accepted
      JOIN package_findings AS finding
        ON finding.package_id = accepted.package_id AND finding.vulnerability = accepted.vulnerability
      JOIN packages ON packages.id = finding.package_id
      WHERE accepted.until > '' AND state = 'open'
      GROUP BY namespace, name, finding.severity, finding.is_exploited, accepted.severity, accepted.is_exploited, until`);
    const keyOf = (row: FindingCountRow): string =>
      [row.namespace, row.name, row.severity, String(row.isExploited)].join(' ');
    const acceptedCounts = new Map<string, number>();
    for (const row of accepted) {
      acceptedCounts.set(keyOf(row), (acceptedCounts.get(keyOf(row)) ?? 0) + row.findings);
    }
    return [
      ...all.map((row) => ({
        ...row,
        isExploited: row.isExploited === 1,
        findings: row.findings - (acceptedCounts.get(keyOf(row)) ?? 0),
        acceptance: undefined,
      })),
      ...accepted.map(({ acceptedSeverity, acceptedExploited, until, isExploited, ...row }) => ({
        ...row,
        isExploited: isExploited === 1,
        acceptance: { severity: acceptedSeverity, isExploited: acceptedExploited === 1, until },
      })),
    ].filter(({ findings }) => findings > 0);
  },

  /** Lists the released revisions with the feeds that each was last compared with; null without any. */
  comparedReleases: (now: string) =>
    db.all<{ packageId: string; revision: number; indexes: string | null }>(sql`
      SELECT released.package_id AS "packageId", released.revision, indexes
      FROM (
        SELECT DISTINCT package_id, revision FROM releases
        WHERE package_id > '' AND (expires_at IS NULL OR expires_at > ${now})) AS released
      LEFT JOIN passing_matched_revisions AS matched
        ON matched.package_id = released.package_id AND matched.revision = released.revision
      ORDER BY released.package_id, released.revision`),

  /**
   * Counts the released revisions by the coverage of their findings; null if they were not compared with the feeds yet. `isPartial` if the
   * contents have gaps, or packages that no feed covers.
   */
  countCoverage: (now: string) =>
    db.all<{ coverage: MatchCoverage | null; isPartial: 0 | 1; revisions: number }>(sql`
      SELECT coverage, CASE WHEN incomplete = 1 OR unchecked <> '[]' THEN 1 ELSE 0 END AS "isPartial",
        count(*) AS revisions
      FROM (
        SELECT DISTINCT package_id, revision FROM releases
        WHERE package_id > '' AND (expires_at IS NULL OR expires_at > ${now})) AS released
      LEFT JOIN passing_matched_revisions AS matched
        ON matched.package_id = released.package_id AND matched.revision = released.revision
      GROUP BY 1, 2`),
});

export const packageFindingChanges = (db: Queries) => ({
  ...packageFindings(db),

  /** Stores a finding, or its present risk and state. Its first time stays. */
  set: (packageId: string, { vulnerability, severity, isExploited, state, since }: PackageFinding) =>
    db.run(sql`
      INSERT INTO package_findings (package_id, vulnerability, severity, is_exploited, state, since)
      SELECT id, ${vulnerability}, ${severity}, ${Number(isExploited)}, ${state}, ${since} FROM packages WHERE id = ${packageId}
      ON CONFLICT (package_id, vulnerability) DO UPDATE
      SET severity = excluded.severity, is_exploited = excluded.is_exploited, state = excluded.state`),

  /** Removes findings that no revision has any longer. */
  remove: (packageId: string, vulnerabilities: readonly string[]) =>
    db.run(sql`
      DELETE FROM package_findings WHERE package_id = ${packageId} AND vulnerability IN ${list(vulnerabilities)}`),
});

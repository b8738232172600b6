// Findings of packages: the vulnerabilities in the revisions that channels and devices have, and when each was found.
import type { AcceptedRisk, VulnerabilityRisk } from '#domain/vulnerabilities/acceptance.ts';
import type { MatchCoverage, VulnerabilitySeverity } from '#domain/vulnerabilities/finding.ts';
import type { VexSuppression } from '#domain/vulnerabilities/vex.ts';
import { list, sql, type Queries, type ReadQueries } from '#engine/database.ts';

export interface PackageFinding extends VulnerabilityRisk {
  vulnerability: string;
  /** By VEX statements. `open` if any revision has it open. */
  state: 'open' | VexSuppression['status'];
  /** When a revision in a channel or on a device was first found to have it, RFC 3339. */
  since: string;
}

/** The findings of a package that no VEX statement suppresses, by severity, accepted ones included. */
export interface OpenFindingCounts extends Record<VulnerabilitySeverity, number> {
  namespace: string;
  name: string;
  exploited: number;
}

/** How many findings have a risk. */
export interface RiskCount extends VulnerabilityRisk {
  findings: number;
}

/** The findings of a package with the same risk that the same acceptance may cover. */
export interface AcceptedFindingCount extends VulnerabilityRisk {
  namespace: string;
  name: string;
  findings: number;
  acceptance: AcceptedRisk;
}

interface AcceptedCountRow extends Omit<AcceptedFindingCount, 'isExploited' | 'acceptance'> {
  isExploited: 0 | 1;
  acceptedSeverity: VulnerabilitySeverity;
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

  /** Counts the findings of each package that no VEX statement suppresses, accepted ones included. */
  countOpen: () =>
    // One group for each package follows the index; groups by severity need a sort of all findings (`npm run bench -- console`).
    db.all<OpenFindingCounts>(sql`
      SELECT namespace, name, critical, high, medium, low, negligible, unknown, exploited
      FROM (
        SELECT package_id,
          count(*) FILTER (WHERE severity = 'critical') AS critical,
          count(*) FILTER (WHERE severity = 'high') AS high,
          count(*) FILTER (WHERE severity = 'medium') AS medium,
          count(*) FILTER (WHERE severity = 'low') AS low,
          count(*) FILTER (WHERE severity = 'negligible') AS negligible,
          count(*) FILTER (WHERE severity = 'unknown') AS unknown,
          count(*) FILTER (WHERE is_exploited = 1) AS exploited
        FROM package_findings WHERE state = 'open' GROUP BY package_id) AS counted
      JOIN packages ON packages.id = counted.package_id`),

  /** Counts the findings of all packages together that no VEX statement suppresses, by risk, accepted ones included. */
  async countOpenOfStore(): Promise<RiskCount[]> {
    const rows = await db.all<Omit<RiskCount, 'isExploited'> & { isExploited: 0 | 1 }>(sql`
      SELECT severity, is_exploited AS "isExploited", count(*) AS findings
      FROM package_findings WHERE state = 'open' GROUP BY severity, is_exploited`);
    return rows.map((row) => ({ ...row, isExploited: row.isExploited === 1 }));
  },

  /** Counts the findings for which an acceptance exists, by package, risk and acceptance. */
  async countAccepted(): Promise<AcceptedFindingCount[]> {
    // Acceptances are few: the order of the joins starts from them.
    const rows = await db.all<AcceptedCountRow>(sql`
      SELECT namespace, name, finding.severity, finding.is_exploited AS "isExploited", count(*) AS findings,
        accepted.severity AS "acceptedSeverity", accepted.is_exploited AS "acceptedExploited", until
      FROM accepted_findings AS accepted
      CROSS JOIN package_findings AS finding
      CROSS JOIN packages
      WHERE accepted.until > '' AND finding.package_id = accepted.package_id
        AND finding.vulnerability = accepted.vulnerability AND state = 'open' AND packages.id = finding.package_id
      GROUP BY namespace, name, finding.severity, finding.is_exploited, accepted.severity, accepted.is_exploited, until`);
    return rows.map(({ acceptedSeverity, acceptedExploited, until, isExploited, ...row }) => ({
      ...row,
      isExploited: isExploited === 1,
      acceptance: { severity: acceptedSeverity, isExploited: acceptedExploited === 1, until },
    }));
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
   * contents have gaps, or packages that no feed covers. Releases that have ended by then do not count.
   */
  countCoverage: (endedBy: string) =>
    db.all<{ coverage: MatchCoverage | null; isPartial: 0 | 1; revisions: number }>(sql`
      SELECT coverage, CASE WHEN incomplete = 1 OR unchecked <> '[]' THEN 1 ELSE 0 END AS "isPartial",
        count(*) AS revisions
      FROM (
        SELECT DISTINCT package_id, revision FROM releases
        WHERE package_id > '' AND (expires_at IS NULL OR expires_at > ${endedBy})) AS released
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

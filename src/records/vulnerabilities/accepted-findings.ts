// Accepted findings: vulnerabilities of packages that a person has accepted until a date.
import type { AcceptedRisk } from '#domain/vulnerabilities/acceptance.ts';
import { columns, sql, type Queries, type ReadQueries } from '#engine/database.ts';

export interface AcceptedFinding extends AcceptedRisk {
  packageId: string;
  /** A CVE number, or the id of an advisory without one. */
  vulnerability: string;
  reason: string;
  acceptedAt: string;
  /** The actor as in the audit log. */
  acceptedBy: string;
}

/** An acceptance with the name of its package. */
export interface ListedAcceptance extends AcceptedFinding {
  namespace: string;
  name: string;
}

type StoredAcceptance<Row extends AcceptedFinding> = Omit<Row, 'isExploited'> & { isExploited: 0 | 1 };

const fromRow = <Row extends AcceptedFinding>(row: StoredAcceptance<Row>): Row =>
  ({ ...row, isExploited: row.isExploited === 1 }) as unknown as Row;

const acceptanceColumns = columns`
  package_id AS "packageId", vulnerability, severity, is_exploited AS "isExploited", reason, until,
  accepted_at AS "acceptedAt", accepted_by AS "acceptedBy"`;

export const acceptedFindings = (db: ReadQueries) => ({
  /** Lists the acceptances of a package, also the ended ones. */
  async ofPackage(packageId: string): Promise<AcceptedFinding[]> {
    const rows = await db.all<StoredAcceptance<AcceptedFinding>>(sql`
      SELECT ${acceptanceColumns} FROM accepted_findings WHERE package_id = ${packageId} ORDER BY vulnerability`);
    return rows.map(fromRow);
  },

  /** Lists all acceptances, the first to end first, after a position. */
  async list(
    after: readonly [until: string, packageId: string, vulnerability: string],
    limit: number,
  ): Promise<ListedAcceptance[]> {
    const rows = await db.all<StoredAcceptance<ListedAcceptance>>(sql`
      SELECT ${acceptanceColumns}, namespace, name
      FROM accepted_findings JOIN packages ON packages.id = package_id
      WHERE (until, package_id, vulnerability) > (${after[0]}, ${after[1]}, ${after[2]})
      ORDER BY until, package_id, vulnerability LIMIT ${limit}`);
    return rows.map(fromRow);
  },

  /** Lists acceptances that end before a time, the first to end first. */
  async endingBefore(until: string, limit: number): Promise<ListedAcceptance[]> {
    const rows = await db.all<StoredAcceptance<ListedAcceptance>>(sql`
      SELECT ${acceptanceColumns}, namespace, name
      FROM accepted_findings JOIN packages ON packages.id = package_id
      WHERE until < ${until} ORDER BY until, package_id, vulnerability LIMIT ${limit}`);
    return rows.map(fromRow);
  },
});

export const acceptedFindingChanges = (db: Queries) => ({
  ...acceptedFindings(db),

  /** Stores an acceptance, in place of an earlier one of the same vulnerability. */
  accept: (a: AcceptedFinding) =>
    db.run(sql`
      INSERT INTO accepted_findings (package_id, vulnerability, severity, is_exploited, reason, until, accepted_at, accepted_by)
      VALUES (${a.packageId}, ${a.vulnerability}, ${a.severity}, ${Number(a.isExploited)}, ${a.reason}, ${a.until},
        ${a.acceptedAt}, ${a.acceptedBy})
      ON CONFLICT (package_id, vulnerability) DO UPDATE
      SET severity = excluded.severity, is_exploited = excluded.is_exploited, reason = excluded.reason,
        until = excluded.until, accepted_at = excluded.accepted_at, accepted_by = excluded.accepted_by`),

  /** Removes an acceptance. */
  withdraw: (packageId: string, vulnerability: string) =>
    db.run(sql`
      DELETE FROM accepted_findings WHERE package_id = ${packageId} AND vulnerability = ${vulnerability}`),
});

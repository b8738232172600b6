// Reads the catalog of exploited vulnerabilities (KEV) of CISA.
import { dateOf, InvalidEntry, membersOf } from './feed-entry.ts';

export const isKev = (value: unknown): boolean => {
  const { catalogVersion, vulnerabilities } = membersOf(value);
  return typeof catalogVersion === 'string' && Array.isArray(vulnerabilities);
};

const day = /^\d{4}-\d{2}-\d{2}$/;
const maxVulnerabilities = 200_000;

/** Reads the CVE numbers of the catalog. Throws `InvalidEntry`. */
export function parseKev(value: unknown): { datedAt: string; vulnerabilities: string[] } {
  const { dateReleased, vulnerabilities } = membersOf(value);
  const datedAt = dateOf(dateReleased);
  if (datedAt === undefined) throw new InvalidEntry('the catalog has no valid date of its release');
  if (!Array.isArray(vulnerabilities) || vulnerabilities.length > maxVulnerabilities)
    throw new InvalidEntry(`the catalog has more than ${String(maxVulnerabilities)} vulnerabilities`);
  const entries = vulnerabilities.map((entry): string => {
    const { cveID: cve, dateAdded } = membersOf(entry);
    if (typeof cve !== 'string' || !/^CVE-\d{4}-\d{4,19}$/.test(cve))
      throw new InvalidEntry('the catalog has an entry without a valid CVE number');
    if (typeof dateAdded !== 'string' || !day.test(dateAdded))
      throw new InvalidEntry(`${cve} in the catalog has no valid day of its addition`);
    return cve;
  });
  return { datedAt, vulnerabilities: entries };
}

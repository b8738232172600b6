// Acceptances of findings: an officer takes a risk until a date.
import { days } from '../clock.ts';
import { severities, type VulnerabilitySeverity } from './finding.ts';

/** The properties of a vulnerability that a person weighs. */
export interface VulnerabilityRisk {
  severity: VulnerabilitySeverity;
  isExploited: boolean;
}

/** An acceptance, with the risk at its time. */
export interface AcceptedRisk extends VulnerabilityRisk {
  /** RFC 3339, UTC. */
  until: string;
}

/** The longest term of an acceptance. */
export const maxAcceptanceMs = days(366);

/**
 * Whether an acceptance covers a finding now. It ends at its date, and earlier if the vulnerability becomes known to be
 * exploited or gets a higher severity.
 */
export const isAccepted = (finding: VulnerabilityRisk, acceptance: AcceptedRisk, at: string): boolean =>
  at < acceptance.until && !isGreater(finding, acceptance);

const isGreater = (finding: VulnerabilityRisk, accepted: VulnerabilityRisk): boolean =>
  (finding.isExploited && !accepted.isExploited) ||
  severities.indexOf(finding.severity) < severities.indexOf(accepted.severity);

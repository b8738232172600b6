// Findings: the advisories that apply to the components of a revision or an image.
import type { ComponentEcosystem } from './bill-of-materials.ts';

/** In descending order. `unknown` if the feed does not rate the vulnerability. */
export const severities = ['critical', 'high', 'medium', 'low', 'negligible', 'unknown'] as const;
export type VulnerabilitySeverity = (typeof severities)[number];

/**
 * Whether findings are complete: `covered` if a feed covers the release of the distribution; `release-unknown` if the
 * bill names no release; `ecosystem-not-covered` if it has only packages that no feed is matched with, such as those of
 * Python; `no-bill` if it lists nothing.
 */
export const matchCoverages = [
  'covered',
  'release-not-covered',
  'release-unknown',
  'ecosystem-not-covered',
  'no-bill',
] as const;
export type MatchCoverage = (typeof matchCoverages)[number];

/** A component as it is compared with advisories. */
export interface MatchedComponent {
  /** `ubuntu:22.04` */
  release: string;
  ecosystem: ComponentEcosystem;
  name: string;
  version: string;
  /** The source package that the bill names; null if it names none. */
  source: { name: string; version: string } | null;
}

/** An advisory that applies to a component. */
export interface ComponentAdvisory {
  /** The source of the feed. */
  feed: string;
  advisory: string;
  severity: VulnerabilitySeverity;
  /** The first version that is not affected: of the source package if the component has one, else of the component. Null if there is none. */
  fixed: string | null;
}

export interface VulnerabilityFinding extends ComponentAdvisory {
  component: MatchedComponent;
  /** The advisory itself, its aliases and the vulnerabilities that it is about; CVE numbers are among them. */
  names: string[];
  /** The CVSS 3 base score, such as 7.5. */
  score: number | null;
  summary: string;
  publishedAt: string | null;
  modifiedAt: string;
  /** Whether a vulnerability of it is in the catalog of exploited vulnerabilities that is in force. */
  exploited: boolean;
}

/** The result of matching one bill of materials with the feeds in force. */
export interface BillMatch {
  coverage: MatchCoverage;
  /** `ubuntu:22.04`; null if the bill names none. */
  release: string | null;
  /** Whether the bill has gaps, so that components may be missing in it. */
  isIncomplete: boolean;
  /** The packaging systems in the bill that no feed is matched with. */
  unchecked: ComponentEcosystem[];
}

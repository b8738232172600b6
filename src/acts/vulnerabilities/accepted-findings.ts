// Accepted findings: vulnerabilities of a package that a person accepts until a date.
import { after, timestamp } from '#domain/clock.ts';
import { maxAcceptanceMs, type VulnerabilityRisk } from '#domain/vulnerabilities/acceptance.ts';
import { higherSeverity } from '#domain/vulnerabilities/component-vulnerability.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { AcceptedFinding } from '#records/vulnerabilities/accepted-findings.ts';
import { act } from '../act.ts';
import { packageObject, requireCurrentPackage } from '../packages/package.ts';
import { parseReason } from '../reason.ts';
import { createFindingReader, type EffectiveFinding } from './effective-findings.ts';
import { conditionsFor, meetsCondition, vulnerabilityLine } from './vulnerability-lines.ts';

interface PackageVulnerability {
  package: PublishedPackage;
  /** A CVE number, or the id of an advisory without one. */
  vulnerability: string;
}

const object = ({ package: subject }: PackageVulnerability): string => packageObject(subject);

export const acceptFinding = act<PackageVulnerability & { reason: string; until: Date }, AcceptedFinding>({
  name: 'accept_finding',
  summary: 'Accept a vulnerability of a package until a date.',
  on: 'NAMESPACE/NAME',
  object,
  gate: {
    kinds: ['vulnerabilities'],
    // An accepted finding holds no release, so accepting it needs the approvals of a release to any channel.
    async lines(tx, { package: subject, vulnerability, reason, until }, { at, policies }) {
      const on = packageObject(subject);
      const conditions = conditionsFor(policies, on);
      if (conditions.length === 0) return [];
      const risk = await readRisk(tx, { package: subject, vulnerability }, at);
      const to = `${vulnerability} accepted until ${timestamp(until)}: ${parseReason(reason)}`;
      return conditions
        .filter((condition) => meetsCondition(risk, condition))
        .map((condition) => vulnerabilityLine(on, condition, to));
    },
  },

  async perform(tx, { package: subject, vulnerability, reason, until }, { at, actor, note }) {
    const { id: packageId } = await requireCurrentPackage(tx, subject);
    const because = parseReason(reason);
    const now = new Date(at);
    if (until <= now || until > after(now, maxAcceptanceMs))
      throw new Refusal('api-error', 'An acceptance ends in the future, within 366 days at /until');
    const risk = await readRisk(tx, { package: subject, vulnerability }, at);
    const acceptance: AcceptedFinding = {
      packageId,
      vulnerability,
      ...risk,
      reason: because,
      until: timestamp(until),
      acceptedAt: at,
      acceptedBy: actor,
    };
    await tx.acceptedFindings.accept(acceptance);
    const { severity, isExploited } = risk;
    note({ vulnerability, until: acceptance.until, because, severity, 'known-exploited': isExploited });
    return acceptance;
  },
});

/** The newest revisions and images that are read for the risk of a vulnerability. */
const maxSubjects = 100;

/** The present risk of a vulnerability, the highest in any revision or image. Refuses a vulnerability that none of them has. */
async function readRisk(
  tx: ChangeRecords,
  { package: subject, vulnerability }: PackageVulnerability,
  at: string,
): Promise<VulnerabilityRisk> {
  const reader = createFindingReader(tx, at);
  const findings: EffectiveFinding[] = [];
  for (const { revision, version, sha256 } of await tx.revisions.list(subject.id, maxSubjects))
    findings.push(...(await reader.ofRevision({ package: subject, revision, version, sha256 })).findings);
  for (const image of (await tx.resourceImages.ofPackage(subject.id)).slice(-maxSubjects))
    findings.push(...(await reader.ofImage({ package: subject, ...image })).findings);
  const [first, ...others] = findings.filter((finding) => finding.vulnerability === vulnerability);
  if (first === undefined) {
    throw new Refusal(
      'resource-not-found',
      `No revision of ${packageObject(subject)} has ${vulnerability}. 'larder vulnerabilities --package ${packageObject(subject)}' lists its findings.`,
    );
  }
  return {
    severity: others.reduce((severity, other) => higherSeverity(severity, other.severity), first.severity),
    isExploited: [first, ...others].some(({ isExploited }) => isExploited),
  };
}

export const withdrawAcceptedFinding = act<PackageVulnerability, void>({
  name: 'withdraw_accepted_finding',
  summary: 'Withdraw the acceptance of a vulnerability: it counts again.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'the vulnerability counts again, as it did before' },

  async perform(tx, { package: subject, vulnerability }, { note }) {
    const { id } = await requireCurrentPackage(tx, subject);
    const acceptance = (await tx.acceptedFindings.ofPackage(id)).find(
      (accepted) => accepted.vulnerability === vulnerability,
    );
    if (acceptance === undefined)
      throw new Refusal('resource-not-found', `${vulnerability} is not accepted for ${packageObject(subject)}.`);
    await tx.acceptedFindings.withdraw(id, vulnerability);
    note({ vulnerability, 'accepted-because': acceptance.reason, until: acceptance.until });
  },
});

// Vulnerabilities in the revision of a rollout that the approval policy names. A feed can add some between two steps.
import { lineText } from '#domain/approvals/approval-policy.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Rollout } from '#records/releases/rollouts.ts';
import {
  storedSubject,
  vulnerabilityLines,
  type VulnerabilityLineRecords,
} from '../vulnerabilities/vulnerability-lines.ts';

type RolledOutRecords = VulnerabilityLineRecords &
  (Pick<StoreRecords, 'approvalPolicy' | 'revisions'> | Pick<ChangeRecords, 'approvalPolicy' | 'revisions'>);
type RolledOut = Pick<Rollout, 'channel' | 'revision'>;

/** The lines that people see when they approve the rollout at a time, RFC 3339. */
export async function seenVulnerabilities(
  records: RolledOutRecords,
  subject: PublishedPackage,
  rolledOut: RolledOut,
  at: string,
): Promise<string[]> {
  const policies = [await records.approvalPolicy.inForce()];
  const subjects = await storedSubject(records, subject, rolledOut);
  return (await vulnerabilityLines(records, subjects, { at, policies })).map(lineText);
}

/** The lines that people have not seen yet. */
export async function findNewVulnerabilities(
  records: RolledOutRecords,
  subject: PublishedPackage,
  rollout: Rollout,
  at: string,
): Promise<string[]> {
  const lines = await seenVulnerabilities(records, subject, rollout, at);
  return lines.filter((line) => !rollout.acceptedVulnerabilities.includes(line));
}

// The revisions in channels with vulnerabilities that the approval policy asks about. They stay: only a person withdraws a revision.
import type { ApprovalLine, ApprovalPolicy } from '#domain/approvals/approval-policy.ts';
import type { StoreRecords } from '#records/index.ts';
import { conditionsFor, storedSubject, vulnerabilityLines, type ReleasedSubject } from './vulnerability-lines.ts';

/** Returns the lines of present releases, as a release to the same channel would have them now. */
export async function releasedVulnerabilities(
  records: StoreRecords,
  { at, policy }: { at: string; policy: ApprovalPolicy },
): Promise<ApprovalLine[]> {
  if (policy.vulnerabilities.length === 0) return [];
  return vulnerabilityLines(records, releasedNow(records, { at, policy }), {
    at,
    policies: [policy],
    mayBeUnread: true,
  });
}

/** The present releases of packages with open findings. */
async function* releasedNow(
  records: StoreRecords,
  { at, policy }: { at: string; policy: ApprovalPolicy },
): AsyncGenerator<ReleasedSubject> {
  const { packageFindings, packages, releases } = records;
  for (const { namespace, name } of await packageFindings.countOpen()) {
    if (conditionsFor([policy], `${namespace}/${name}`).length === 0) continue;
    const subject = await packages.find(namespace, name);
    if (subject === undefined) continue;
    for (const release of await releases.current(subject.id, at)) yield* await storedSubject(records, subject, release);
  }
}

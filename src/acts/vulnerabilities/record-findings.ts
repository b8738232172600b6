// Records the vulnerabilities of a package: new ones are in an entry of the audit log and of the change feed.
import { higherSeverity } from '#domain/vulnerabilities/component-vulnerability.ts';
import type { PackageFinding } from '#records/vulnerabilities/package-findings.ts';
import { act, DoneAlready } from '../act.ts';
import type { EffectiveFinding, FindingSubject } from './effective-findings.ts';

interface PresentFindings {
  package: FindingSubject['package'];
  /** The findings of all revisions that a channel or a device has. */
  findings: readonly EffectiveFinding[];
  /** Whether all these revisions have been compared with the feeds. Until then no finding has ended. */
  isComplete: boolean;
}

/** The maximum number of vulnerabilities in the audit log entry. */
const notedFindings = 100;

export const recordFindings = act<PresentFindings, void>({
  name: 'record_findings',
  summary: 'Record the vulnerabilities that a package has in its channels and on devices.',
  on: 'NAMESPACE/NAME',
  object: ({ package: subject }) => `${subject.namespace}/${subject.name}`,
  gate: { never: 'they follow from the contents and the feeds alone' },

  async perform(tx, { package: { id }, ...present }, { at, note }) {
    const before = await tx.packageFindings.ofPackage(id);
    const { changed, ended } = compareFindings(before, present, at);
    if (changed.length + ended.length === 0) throw new DoneAlready(undefined);
    for (const finding of changed) await tx.packageFindings.set(id, finding);
    await tx.packageFindings.remove(id, ended);
    const openBefore = new Set(
      before.filter(({ state }) => state === 'open').map(({ vulnerability }) => vulnerability),
    );
    const open = changed.filter(({ state, vulnerability }) => state === 'open' && !openBefore.has(vulnerability));
    const exploited = open.filter(({ isExploited }) => isExploited);
    note({
      new: open.length,
      ended: ended.length,
      vulnerabilities: open.slice(0, notedFindings).map(({ vulnerability }) => vulnerability),
      ...(exploited.length > 0 && {
        'known-exploited': exploited.slice(0, notedFindings).map(({ vulnerability }) => vulnerability),
      }),
    });
  },
});

/** Whether the records of a package have these findings. */
export function isRecorded(before: readonly PackageFinding[], present: Omit<PresentFindings, 'package'>): boolean {
  const { changed, ended } = compareFindings(before, present, '');
  return changed.length + ended.length === 0;
}

function compareFindings(
  recorded: readonly PackageFinding[],
  { findings, isComplete }: Omit<PresentFindings, 'package'>,
  since: string,
): { changed: PackageFinding[]; ended: string[] } {
  const before = new Map(recorded.map((finding) => [finding.vulnerability, finding]));
  const present = mergeByVulnerability(findings, since);
  return {
    changed: [...present.values()].filter((finding) => !isSame(finding, before.get(finding.vulnerability))),
    ended: isComplete ? [...before.keys()].filter((vulnerability) => !present.has(vulnerability)) : [],
  };
}

/** One finding per vulnerability, with the highest risk. It is open if it is open in any revision. */
function mergeByVulnerability(findings: readonly EffectiveFinding[], since: string): Map<string, PackageFinding> {
  const merged = new Map<string, PackageFinding>();
  for (const { vulnerability, severity, isExploited, state } of findings) {
    const other = merged.get(vulnerability);
    // An acceptance ends by itself, so it is applied when the finding is read.
    const recorded = state === 'accepted' ? 'open' : state;
    merged.set(vulnerability, {
      vulnerability,
      severity: other === undefined ? severity : higherSeverity(other.severity, severity),
      isExploited: isExploited || other?.isExploited === true,
      state: other === undefined || recorded === 'open' ? recorded : other.state,
      since,
    });
  }
  return merged;
}

const isSame = (finding: PackageFinding, other: PackageFinding | undefined): boolean =>
  finding.severity === other?.severity && finding.isExploited === other.isExploited && finding.state === other.state;

// Releases of larder in transfers. An accepted one is kept until a person removes it; nothing installs it.
import type { TransferLarderRelease } from '#contract/wire.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { ActContext } from '../../act.ts';
import { contentMissing, parseFindings, subjectOf } from '../findings.ts';
import {
  findExclusion,
  type LarderReleaseVerdict,
  type PlanExclusion,
  type PlannedLarderRelease,
  type PlanRecords,
  type TransferPlan,
  type TransferPlanInputs,
} from '../plan-types.ts';

/** The subject of the review of a release of larder. No package has this id. */
export const larderReleaseSubject = (version: string): string => subjectOf('larder', version);

/** Adds the releases of larder to a plan. */
export async function planLarderReleases(
  records: PlanRecords,
  inputs: TransferPlanInputs,
  plan: TransferPlan,
): Promise<void> {
  for (const sent of inputs.statement['larder-releases'] ?? []) {
    const called = `larder/${sent.version}`;
    const result = await planRelease(records, inputs, sent);
    if ('reason' in result) {
      const { reason, isProblem, missing = [] } = result;
      (isProblem ? plan.problems : plan.leftOut).push({ package: called, what: called, why: reason });
      plan.missing.push(...missing);
      continue;
    }
    const { planned, verdict } = result;
    const { version, released, manifest } = planned.release;
    plan.larderReleases.push(planned);
    plan.lines.add({
      package: called,
      kind: 'larder-release',
      what: 'release',
      from: `${verdict.installed} is installed`,
      to: `${version} of ${released} is kept, manifest sha256:${manifest}`,
      word: inputs.isUnsigned ? 'nobody' : 'source',
      // A note makes it wait for a person.
      notes: [verdict.isNewer ? 'new release of larder' : 'not newer than the installed release of larder'],
    });
  }
}

type TrustedVerdict = Exclude<LarderReleaseVerdict, { refused: string }>;

async function planRelease(
  records: PlanRecords,
  inputs: TransferPlanInputs,
  sent: TransferLarderRelease,
): Promise<{ planned: PlannedLarderRelease; verdict: TrustedVerdict } | (PlanExclusion & { missing?: string[] })> {
  const { version, commit: commitId = null, released } = sent;
  const called = { namespace: 'larder', name: version };
  const problem = (reason: string) => ({ reason, isProblem: true });
  const exclusion = findExclusion(inputs, called);
  if (exclusion !== undefined) return exclusion;
  const missing = await missingOf(records, inputs, sent);
  if (missing.length > 0) return { ...problem(contentMissing), missing };
  const verdict = inputs.larderReleases.get(version);
  if (verdict === undefined) return problem('It was not verified.');
  if ('refused' in verdict) return problem(verdict.refused);
  const { manifest, installed, isNewer } = verdict;
  const stored = await records.larderReleases.find(version);
  if (stored?.manifest === manifest) return { reason: 'It is kept here already.', isProblem: false };
  if (stored !== undefined)
    return problem(`Another release ${version} is kept here. 'larder release remove ${version}' removes it.`);
  if (!isNewer && inputs.mayBeOlder !== true)
    return problem(
      `It is release ${version}, and the installed ${installed} is not older. '--older' accepts such a release.`,
    );
  const finding = await inputs.finding(larderReleaseSubject(version));
  if (parseFindings('larder-release', finding) === undefined)
    return problem(finding?.refused ?? 'It has not been reviewed yet. Receive the transfer again.');
  const files = sent.files.map(({ name, content }) => ({ name, sha3_384: content['sha3-384'], size: content.size }));
  const release = { version, commitId, released, manifest, source: inputs.statement.source };
  return { planned: { release, files }, verdict };
}

async function missingOf(
  { neededContents }: Pick<PlanRecords, 'neededContents'>,
  { arrived }: Pick<TransferPlanInputs, 'arrived'>,
  { files }: TransferLarderRelease,
): Promise<string[]> {
  const missing: string[] = [];
  for (const { content } of files) {
    const { 'sha3-384': sha3_384 } = content;
    if (!arrived.has(sha3_384) && !(await neededContents.has(sha3_384))) missing.push(sha3_384);
  }
  return missing;
}

/** Keeps the planned releases. */
export async function acceptLarderReleases(
  tx: ChangeRecords,
  { larderReleases }: Pick<TransferPlan, 'larderReleases'>,
  { at, actor }: Pick<ActContext, 'at' | 'actor'>,
): Promise<void> {
  for (const { release, files } of larderReleases)
    await tx.larderReleases.add({ ...release, acceptedAt: at, acceptedBy: actor }, files);
}

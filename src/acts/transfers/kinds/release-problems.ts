// Checks that a release of a transfer is possible in this store.
import type { TransferRelease } from '#contract/wire.ts';
import { isWholeChannel, slotsOf } from '#domain/releases/channel-map.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { riskProblem } from '#domain/releases/risk-problem.ts';
import type { RevisionDetails } from '#records/revisions/revisions.ts';
import { parseFindings, subjectOf } from '../findings.ts';
import type { PackagePlanning } from '../package-planning.ts';

/** Whether the release is of a carried revision that cannot be accepted. That problem is reported already. */
export async function isBarred(
  { records, carried, plan }: PackagePlanning,
  { revision }: TransferRelease,
): Promise<boolean> {
  const isCarried = carried.revisions.some((sentRevision) => sentRevision.revision === revision);
  if (!isCarried || plan.revisions.some(({ sentRevision }) => sentRevision.revision === revision)) return false;
  return (await records.revisions.find(carried.id, revision)) === undefined;
}

/** Why a release is not possible here, independent of its signatures. */
export async function describeReleaseProblem(
  planning: PackagePlanning,
  release: TransferRelease,
): Promise<string | undefined> {
  const { carried } = planning;
  const channel = parseChannel(release.channel);
  if (channel?.name !== release.channel) return 'This is not a valid channel name.';
  if (channel.track !== 'latest' && !carried.tracks.includes(channel.track))
    return 'The transfer does not contain its track.';
  if (isWholeChannel(carried.namespace) && release.progressive !== undefined) {
    return `A ${carried.type} is released to all devices at once.`;
  }
  const details = await detailsOf(planning, release.revision);
  if (typeof details === 'string') return details;
  const unfinished = riskProblem(details, channel.risk);
  if (unfinished !== undefined) {
    return `Revision ${String(release.revision)} cannot be released there: ${unfinished}.`;
  }
  const fitting = slotsOf(carried.namespace, details).some(
    ({ slot, architecture, baseName, baseChannel }) =>
      slot === release.slot &&
      architecture === (release.architecture ?? null) &&
      baseName === (release.base?.name ?? null) &&
      baseChannel === (release.base?.channel ?? null),
  );
  if (!fitting) return `Revision ${String(release.revision)} is not for ${release.slot}.`;
  return whyNoResource(planning, release);
}

/**
 * The targets of a revision. Returns a sentence if the revision is neither here nor in the transfer, or is withdrawn.
 */
async function detailsOf(
  { records, inputs, carried: { id }, plan }: PackagePlanning,
  number: number,
): Promise<RevisionDetails | string> {
  if (plan.withdrawals.some(({ revision }) => revision === number)) return `Revision ${String(number)} is withdrawn.`;
  const existing = await records.revisions.find(id, number);
  if (existing !== undefined) {
    return existing.withdrawnAt === null
      ? existing.details
      : `Revision ${String(number)} is withdrawn here and stays withdrawn.`;
  }
  const comes = plan.revisions.some(({ sentRevision }) => sentRevision.revision === number);
  const findings = comes ? parseFindings('revision', await inputs.finding(subjectOf(id, number))) : undefined;
  return findings?.details ?? `Revision ${String(number)} is neither here nor in the transfer.`;
}

async function whyNoResource(
  { records, carried, plan }: PackagePlanning,
  { resources = [] }: TransferRelease,
): Promise<string | undefined> {
  if (new Set(resources.map(({ name }) => name)).size < resources.length) return 'It names a resource twice.';
  for (const { name, revision, type } of resources) {
    // The name appears in lines for approvers, so it must not be mistaken for other text.
    if (!/^[A-Za-z0-9._-]+$/.test(name)) return 'This is not a valid resource name.';
    if (revision === null) continue;
    const comes = plan.resources.find(
      (planned) => planned.resource.name === name && planned.sentRevision.revision === revision,
    );
    const its = comes?.resource.type ?? (await records.resourceRevisions.find(carried.id, name, revision))?.type;
    if (its === type) continue;
    if (its !== undefined) return `Its resource ${name} has the type ${its}, not ${type}.`;
    return `The revision ${String(revision)} of its resource ${name} is neither here nor in the transfer.`;
  }
  return undefined;
}

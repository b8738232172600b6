// Plans the channel changes of one package of a transfer, and checks that each release is possible here.
import type { TransferPackage, TransferRelease } from '#contract/wire.ts';
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { everyDevice, isProgressive, isWholeChannel, slotsOf } from '#domain/releases/channel-map.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { riskProblem } from '#domain/releases/risk-problem.ts';
import type { Release } from '#records/releases/releases.ts';
import type { RevisionDetails } from '#records/revisions/revisions.ts';
import { releaseText, slotText } from '#domain/releases/release-text.ts';
import { isSameSlot, slotLine } from '../../releases/release-lines.ts';
import { branchExpiry, toPlannedRelease } from '../../releases/releases.ts';
import { subjectOf, type PackagePlan, type PlanLine, type TransferPlanInputs, type PlanRecords } from '../plan-types.ts';

/** The line of a slot of a channel. If `to` is null, the slot is closed. */
export type SlotChange = Pick<PlanLine, 'what' | 'from' | 'to' | 'notes'>;

interface ChannelPlanReporter {
  line(line: SlotChange): void;
  problem(item: string, reason: string): void;
}

/**
 * Adds the new content of the channels to a plan. Returns the lines for approvers, in the form of any other release.
 */
export async function planChannels(
  records: PlanRecords,
  planning: TransferPlanInputs,
  made: PackagePlan,
  reporter: ChannelPlanReporter,
): Promise<ApprovalLine[]> {
  const held = await records.releases.current(made.carried.id, planning.at);
  const isWithdrawn = ({ revision }: Release): boolean =>
    made.withdrawals.some((withdrawal) => withdrawal.revision === revision);
  const remaining = held.filter((release) => !isWithdrawn(release));
  if (planning.source.mayRelease) {
    await planReleases(records, planning, made, { remaining, reporter });
    planEnds(made, remaining);
  }
  const changes = slotChanges(held, held.filter(isWithdrawn), { made, at: planning.at });
  for (const { at, from, to, notes } of changes) reporter.line({ what: placed(at), from, to, notes });
  return changes.map(({ at, from, to }) => slotLine(made.carried, at.channel, at.slot, { from, to }));
}

/** Adds the releases that differ from those of the source. */
async function planReleases(
  records: PlanRecords,
  planning: TransferPlanInputs,
  made: PackagePlan,
  { remaining, reporter }: { remaining: readonly Release[]; reporter: ChannelPlanReporter },
): Promise<void> {
  const places = new Set<string>();
  for (const release of made.carried.channels) {
    const expires = release['expires-at'];
    if (expires !== undefined && expires <= planning.at) continue;
    const place = `${release.channel} ${release.slot} ${String(release.progressive !== undefined)}`;
    if (places.has(place)) {
      reporter.problem(placed(release), 'Two releases would be in the same place.');
      continue;
    }
    places.add(place);
    const before = remaining.find(
      (candidate) =>
        isSameSlot(candidate, release) && isProgressive(candidate.progressive) === (release.progressive !== undefined),
    );
    const filled = toRelease(made.carried.id, release, planning.at);
    if (before !== undefined && releaseText(before) === releaseText(filled)) continue;
    if (await isBarred(records, made, release)) continue;
    const reason = await describeReleaseProblem(records, planning, made, release);
    if (reason === undefined) made.releases.push({ release, before });
    else reporter.problem(placed(release), reason);
  }
}

/** Converts a release of a transfer to a release of this store. */
export function toRelease(packageId: string, release: TransferRelease, at: string): Release {
  const { base, progressive, architecture = null, resources = [], channel: name } = release;
  const channel = parseChannel(name);
  return {
    packageId,
    channel: name,
    slot: release.slot,
    architecture,
    revision: release.revision,
    baseName: base?.name ?? null,
    baseChannel: base?.channel ?? null,
    progressive: progressive ?? everyDevice,
    // With the members in a fixed order, independent of the order in the transfer.
    resources: resources.map(({ name, revision, type }) => ({ name, type, revision })),
    releasedAt: at,
    expiresAt: release['expires-at'] ?? (channel === undefined ? null : branchExpiry(channel, at)),
  };
}

/** Adds the progressive releases and channels that the source has ended or closed and that exist here. */
function planEnds(made: PackagePlan, remaining: readonly Release[]): void {
  const { channels, closed } = made.carried;
  for (const release of remaining.filter(({ progressive }) => isProgressive(progressive))) {
    const sameSlot = channels.filter((other) => isSameSlot(release, other));
    if (sameSlot.length === 0 || sameSlot.some(({ progressive }) => progressive !== undefined)) continue;
    made.ends.push(release);
  }
  // A channel that gets a release here is not closed, even if the source closes a channel of the same name.
  for (const channel of closed.filter((channelName) => !channels.some((release) => release.channel === channelName))) {
    const holding = remaining.filter((release) => release.channel === channel);
    if (holding.length > 0) made.closes.push({ channel, held: holding });
  }
}

/** Whether the release is of a carried revision that cannot be accepted. That problem is reported already. */
async function isBarred(
  records: PlanRecords,
  { carried, revisions }: PackagePlan,
  { revision }: TransferRelease,
): Promise<boolean> {
  const isCarried = carried.revisions.some((sentRevision) => sentRevision.revision === revision);
  if (!isCarried || revisions.some(({ sentRevision }) => sentRevision.revision === revision)) return false;
  return (await records.revisions.find(carried.id, revision)) === undefined;
}

/** Why a release is not possible here, independent of its signatures. */
async function describeReleaseProblem(
  records: PlanRecords,
  planning: TransferPlanInputs,
  made: PackagePlan,
  release: TransferRelease,
): Promise<string | undefined> {
  const { carried } = made;
  const channel = parseChannel(release.channel);
  if (channel?.name !== release.channel) return 'This is not a valid channel name.';
  if (channel.track !== 'latest' && !carried.tracks.includes(channel.track))
    return 'The transfer does not contain its track.';
  if (isWholeChannel(carried.namespace) && release.progressive !== undefined) {
    return `A ${carried.type} is released to all devices at once.`;
  }
  const details = await detailsOf(records, planning, made, release.revision);
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
  return whyNoResource(records, made, release);
}

/**
 * The targets of a revision. Returns a sentence if the revision is neither here nor in the transfer, or is withdrawn.
 */
async function detailsOf(
  records: PlanRecords,
  { finding }: TransferPlanInputs,
  made: PackagePlan,
  number: number,
): Promise<RevisionDetails | string> {
  const { id } = made.carried;
  if (made.withdrawals.some(({ revision }) => revision === number)) return `Revision ${String(number)} is withdrawn.`;
  const existing = await records.revisions.find(id, number);
  if (existing !== undefined) {
    return existing.withdrawnAt === null
      ? existing.details
      : `Revision ${String(number)} is withdrawn here and stays withdrawn.`;
  }
  const comes = made.revisions.some(({ sentRevision }) => sentRevision.revision === number);
  const findingsJson = comes ? ((await finding(subjectOf(id, number)))?.findings ?? null) : null;
  if (findingsJson === null) return `Revision ${String(number)} is neither here nor in the transfer.`;
  return (JSON.parse(findingsJson) as { details?: RevisionDetails }).details ?? {};
}

async function whyNoResource(
  records: PlanRecords,
  made: PackagePlan,
  { resources = [] }: TransferRelease,
): Promise<string | undefined> {
  if (new Set(resources.map(({ name }) => name)).size < resources.length) return 'It names a resource twice.';
  for (const { name, revision, type } of resources) {
    // The name appears in lines for approvers, so it must not be mistaken for other text.
    if (!/^[A-Za-z0-9._-]+$/.test(name)) return 'This is not a valid resource name.';
    if (revision === null) continue;
    const comes = made.resources.find(
      (planned) => planned.resource.name === name && planned.sentRevision.revision === revision,
    );
    const its = comes?.resource.type ?? (await records.resourceRevisions.find(made.carried.id, name, revision))?.type;
    if (its === type) continue;
    if (its !== undefined) return `Its resource ${name} has the type ${its}, not ${type}.`;
    return `The revision ${String(revision)} of its resource ${name} is neither here nor in the transfer.`;
  }
  return undefined;
}

type ReleaseSlot = Pick<Release, 'channel' | 'slot'>;

interface SlotPlan {
  at: ReleaseSlot;
  from: string | null;
  to: string | null;
  notes: string[];
}

/** The content before and after, for each slot that changes. */
function slotChanges(
  held: readonly Release[],
  withdrawn: readonly Release[],
  { made: { carried, releases, ends, closes }, at }: { made: PackagePlan; at: string },
): SlotPlan[] {
  const replaced = releases.flatMap(({ before }) => before ?? []);
  const gone = new Set<Release>([...replaced, ...withdrawn, ...ends, ...closes.flatMap((close) => close.held)]);
  const filled = releases.map((planned) => ({ ...planned, filled: toRelease(carried.id, planned.release, at) }));
  const places = [...filled.map((planned) => planned.filled), ...gone];
  const touched = new Map(places.map((release) => [`${release.channel} ${release.slot}`, release]));
  return [...touched.values()].map((slot) => {
    const before = held.filter((release) => isSameSlot(release, slot));
    const comes = filled.filter((planned) => isSameSlot(planned.filled, slot));
    const afterwards = [...before.filter((release) => !gone.has(release)), ...comes.map(described)];
    const notes = comes.flatMap((planned) => notesOf(carried, planned));
    return { at: slot, from: slotText(before), to: slotText(afterwards), notes };
  });
}

type Coming = PackagePlan['releases'][number] & { filled: Release };

/** A branch without an expiry date of its own ends a fixed number of days after acceptance. */
const described = ({ release, filled }: Coming): Parameters<typeof releaseText>[0] =>
  release['expires-at'] === undefined ? toPlannedRelease(filled) : filled;

/** The remarks that a person should see before accepting. */
function notesOf({ namespace, resources }: TransferPackage, { release, before, filled }: Coming): string[] {
  const lacking = resources.filter(
    ({ name, revisions }) =>
      revisions.some(({ serves }) => serves.includes(release.revision)) &&
      !filled.resources.some((resource) => resource.name === name && resource.revision !== null),
  );
  return [
    ...(before !== undefined && before.revision > release.revision ? ['downgrade'] : []),
    ...(release['expires-at'] !== undefined && parseChannel(release.channel)?.branch === null
      ? [`ends by itself at ${release['expires-at']}`]
      : []),
    // Sources with an older release of larder do not name components in releases. Devices do not get an unnamed
    // component.
    ...(namespace === 'snap' && lacking.length > 0
      ? [`released without its ${lacking.map(({ name }) => name).join(', ')}`]
      : []),
  ];
}

/** A channel, with its slot if it has several. */
const placed = ({ channel, slot }: ReleaseSlot): string => (slot === '*' ? channel : `${channel} (${slot})`);

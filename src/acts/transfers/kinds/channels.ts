// Channels of packages in transfers: releases, ended progressive releases and closed channels, and their rollback.
import type { TransferPackage, TransferRelease } from '#contract/wire.ts';
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { everyDevice, isProgressive } from '#domain/releases/channel-map.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import { releaseText, slotText } from '#domain/releases/release-text.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { Release } from '#records/releases/releases.ts';
import type { ActContext } from '../../act.ts';
import { isSameSlot, slotLine, withoutRollout } from '../../releases/release-lines.ts';
import {
  branchExpiry,
  recordEndedReleases,
  recordRelease,
  refuseRiskAgain,
  toPlannedRelease,
} from '../../releases/releases.ts';
import type { PackagePlanning } from '../package-planning.ts';
import type { PackagePlan } from '../plan-types.ts';
import type { ChannelUndo } from '../receipt.ts';
import type { ContentKind, PackageAcceptance } from './content-kind.ts';
import { isBarred, describeReleaseProblem } from './release-problems.ts';

export const channelContent: ContentKind = {
  /** Adds the new content of the channels, also as lines for approvers in the form of any other release. */
  async plan(planning) {
    const { records, inputs, carried, plan } = planning;
    const held = await records.releases.current(carried.id, inputs.at);
    const isWithdrawn = ({ revision }: Release): boolean =>
      plan.withdrawals.some((withdrawal) => withdrawal.revision === revision);
    const remaining = held.filter((release) => !isWithdrawn(release));
    if (inputs.source.mayRelease) {
      await planReleases(planning, remaining);
      planEnds(plan, remaining);
    }
    for (const { at, notes, ...change } of slotChanges(plan, held, held.filter(isWithdrawn), inputs.at)) {
      planning.line({ kind: change.to === null ? 'close' : 'release', what: placed(at), ...change, notes });
      planning.releaseLine(slotLine(carried, at.channel, at.slot, change));
    }
  },

  async accept(acceptance) {
    const { tx, doing, plan, subject, undo } = acceptance;
    await acceptReleases(acceptance);
    for (const release of plan.ends) {
      await tx.releases.empty(release);
      undo.add(toChannelUndo(release, null, release));
    }
    for (const { channel, held } of plan.closes) {
      await tx.releases.close(subject.id, channel);
      await recordEndedReleases(tx, held, doing);
      for (const release of held) undo.add(toChannelUndo(release, null, release));
    }
  },
};

/** Adds the releases that differ from those of the source. */
async function planReleases(planning: PackagePlanning, remaining: readonly Release[]): Promise<void> {
  const { inputs, carried, plan } = planning;
  const places = new Set<string>();
  for (const release of carried.channels) {
    const expires = release['expires-at'];
    if (expires !== undefined && expires <= inputs.at) continue;
    const isOverAnother = release.progressive !== undefined;
    const place = `${release.channel} ${release.slot} ${String(isOverAnother)}`;
    if (places.has(place)) {
      planning.problem(placed(release), 'Two releases would be in the same place.');
      continue;
    }
    places.add(place);
    const before = remaining.find(
      (candidate) => isSameSlot(candidate, release) && isProgressive(candidate.progressive) === isOverAnother,
    );
    const filled = toRelease(carried.id, release, inputs.at);
    if (before !== undefined && releaseText(before) === releaseText(filled)) continue;
    if (await isBarred(planning, release)) continue;
    const reason = await describeReleaseProblem(planning, release);
    if (reason === undefined) plan.releases.push({ release, before });
    else planning.problem(placed(release), reason);
  }
}

async function acceptReleases({ tx, doing, plan, subject, undo }: PackageAcceptance): Promise<void> {
  const { id, status } = subject;
  for (const { release, before } of plan.releases) {
    const filled = toRelease(id, release, doing.at);
    undo.add(toChannelUndo(filled, release.revision, before));
    await tx.releases.fill(filled);
    const held = before === undefined || isProgressive(before.progressive) ? null : before.revision;
    await recordRelease(tx, filled, held, doing);
    await tx.revisions.markReleased(id, release.revision);
  }
  if (plan.releases.length > 0 && status === 'registered') await tx.packages.publish(id);
}

/** Converts a release of a transfer to a release of this store. */
function toRelease(packageId: string, release: TransferRelease, at: string): Release {
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
function planEnds(plan: PackagePlan, remaining: readonly Release[]): void {
  const { channels, closed } = plan.carried;
  for (const release of remaining.filter(({ progressive }) => isProgressive(progressive))) {
    const sameSlot = channels.filter((other) => isSameSlot(release, other));
    if (sameSlot.length === 0 || sameSlot.some(({ progressive }) => progressive !== undefined)) continue;
    plan.ends.push(release);
  }
  // A channel that gets a release here is not closed, even if the source closes a channel of the same name.
  for (const channel of closed.filter((channelName) => !channels.some((release) => release.channel === channelName))) {
    const holding = remaining.filter((release) => release.channel === channel);
    if (holding.length > 0) plan.closes.push({ channel, held: holding });
  }
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
  { carried, releases, ends, closes }: PackagePlan,
  held: readonly Release[],
  withdrawn: readonly Release[],
  at: string,
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

const toChannelUndo = (
  { packageId, channel, slot, progressive }: Release,
  put: number | null,
  before: Release | undefined,
): ChannelUndo => ({
  id: packageId,
  channel,
  slot,
  isProgressive: isProgressive(progressive),
  put,
  // A rollback restores the percentage. The rollout that raised it has ended.
  before: before === undefined ? null : withoutRollout(before),
});

/** The lines for approvers of a rollback. */
export async function undoLines(tx: ChangeRecords, undo: readonly ChannelUndo[], at: string): Promise<ApprovalLine[]> {
  const lines: ApprovalLine[] = [];
  for (const [packageId, ofPackage] of Map.groupBy(undo, (step) => step.id)) {
    const subject = await tx.packages.byId(packageId);
    if (subject === undefined) continue;
    const held = await tx.releases.current(packageId, at);
    for (const some of Map.groupBy(ofPackage, ({ channel, slot }) => `${channel} ${slot}`).values()) {
      const { channel, slot } = some[0]!;
      const current = held.filter((release) => isSameSlot(release, some[0]!));
      const stays = current.filter(
        (release) => !some.some((other) => other.isProgressive === isProgressive(release.progressive)),
      );
      const to = slotText([...stays, ...some.flatMap(({ before }) => before ?? [])]);
      const line = slotLine(subject, channel, slot, { from: slotText(current), to });
      lines.push(line, { ...line, kind: 'transfers' });
    }
  }
  return lines;
}

/** Restores the channels as they were before acceptance; refuses if a channel was changed since. */
export async function undoChannels(
  tx: ChangeRecords,
  undo: readonly ChannelUndo[],
  acceptedAt: string,
  doing: ActContext,
): Promise<void> {
  for (const step of undo) await refuseLater(tx, step, acceptedAt);
  await refuseLaterRollouts(tx, undo, doing.at);
  // Restoring a revision counts as a release of it, so the same check applies.
  for (const { before } of undo) if (before !== null) await refuseRiskAgain(tx, before);
  for (const step of undo.toReversed()) await restoreSlot(tx, step, doing);
}

const heldAt = async (
  tx: ChangeRecords,
  { id, channel, slot, isProgressive: over }: ChannelUndo,
): Promise<Release | undefined> =>
  (await tx.releases.held(id)).find(
    (release) => release.channel === channel && release.slot === slot && isProgressive(release.progressive) === over,
  );

/** Refuses if a progressive release began after acceptance: its devices would lose the revision below it unseen. */
async function refuseLaterRollouts(tx: ChangeRecords, undo: readonly ChannelUndo[], at: string): Promise<void> {
  const slotOf = ({ channel, slot }: Pick<Release, 'channel' | 'slot'>): string => `${channel} ${slot}`;
  for (const [id, steps] of Map.groupBy(undo, (step) => step.id)) {
    const whole = new Set(steps.map(slotOf));
    for (const step of steps) if (step.isProgressive) whole.delete(slotOf(step));
    const held = await tx.releases.current(id, at);
    const later = held.find((release) => isProgressive(release.progressive) && whole.has(slotOf(release)));
    if (later === undefined) continue;
    const { namespace, name } = (await tx.packages.byId(id))!;
    const { rollout, revision, channel } = later;
    throw new Refusal(
      'conflict',
      `${namespace}/${name} ${channel} has a progressive release of revision ${String(revision)}, which began after the transfer was accepted, ` +
        'so nothing was withdrawn. ' +
        (rollout === undefined ? 'End it first.' : `Roll it back first: larder rollout roll-back ${String(rollout)}`),
    );
  }
}

async function refuseLater(tx: ChangeRecords, undo: ChannelUndo, acceptedAt: string): Promise<void> {
  const held = await heldAt(tx, undo);
  const isAsLeft =
    undo.put === null ? held === undefined : held?.revision === undo.put && held.releasedAt === acceptedAt;
  if (isAsLeft) return;
  const subject = await tx.packages.byId(undo.id);
  throw new Refusal(
    'conflict',
    `${subject === undefined ? undo.id : `${subject.namespace}/${subject.name}`} ${undo.channel} was changed after the transfer ` +
      'was accepted, so nothing was withdrawn.',
  );
}

async function restoreSlot(tx: ChangeRecords, undo: ChannelUndo, doing: ActContext): Promise<void> {
  const held = await heldAt(tx, undo);
  if (undo.before !== null) {
    const filled = { ...undo.before, releasedAt: doing.at };
    await tx.releases.fill(filled);
    await recordRelease(tx, filled, undo.isProgressive ? null : (held?.revision ?? null), doing);
  } else if (held !== undefined) {
    await tx.releases.empty(held);
    await recordEndedReleases(tx, [held], doing);
  }
}

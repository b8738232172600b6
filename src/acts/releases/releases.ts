// Releases: change what the channels of a package give to clients.
import { changedLines, lineText, type ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { parseChannel, type Channel } from '#domain/releases/channel.ts';
import {
  everyDevice,
  isProgressive,
  isWholeChannel,
  slotsOf,
  type ReleaseReach,
} from '#domain/releases/channel-map.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { slotText } from '#domain/releases/release-text.ts';
import type { RolloutPlan } from '#domain/releases/rollout.ts';
import { riskProblem } from '#domain/releases/risk-problem.ts';
import type { FollowUp } from '#records/uploads/follow-ups.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import type { Revision } from '#records/revisions/revisions.ts';
import { act, type ActContext, type GateContext } from '../act.ts';
import { settleFollowUp } from '../uploads/follow-ups.ts';
import { requireCurrentPackage, describeMissingRevision } from '../packages/package.ts';
import {
  vulnerabilityLines,
  storedContents,
  type ReleasedSubject,
  type VulnerabilityLineRecords,
} from '../vulnerabilities/vulnerability-lines.ts';
import { isSameSlot, slotLine } from './release-lines.ts';
import { seenVulnerabilities } from './rollout-vulnerabilities.ts';
import { findRolloutPlan, toRolloutSlots } from './rollout-plans.ts';
import { resolveResources, type DeclaredResources, type ResourceReleaseRecords } from './released-resources.ts';

/** A branch ends this many days after its last release. */
const branchDays = 30;

/** When a release to a channel at this moment ends; null if the channel is not a branch. */
export const branchExpiry = ({ branch }: Channel, releasedAt: string): string | null =>
  branch === null ? null : timestamp(after(new Date(releasedAt), days(branchDays)));

type ReleaseTimes = Pick<Release, 'channel' | 'releasedAt' | 'expiresAt'>;

/**
 * Prepares a planned release for its text: the life of a branch is given in days, because it begins with the release.
 */
export function toPlannedRelease<Made extends ReleaseTimes>(release: Made): Made & { lifeDays?: number } {
  const channel = parseChannel(release.channel);
  const isUsual = channel !== undefined && release.expiresAt === branchExpiry(channel, release.releasedAt);
  return isUsual && release.expiresAt !== null ? { ...release, lifeDays: branchDays } : release;
}

/** The release that a request asks for in one channel; a null revision closes the channel. */
export interface ReleaseRequest {
  channel: Channel;
  revision: number | null;
  progressive: ReleaseReach;
  /** The plan of an automatic rollout; null for none; undefined for the plan of the track, if the release is for all devices. */
  rollout?: RolloutPlan | null | undefined;
  /** The named revisions of resources. The others follow from earlier releases. */
  resources: { name: string; revision: number | null }[];
  /** Skips slots that hold this revision or a newer one. */
  onlyIfNewer?: boolean;
}

/** The records that a release plan reads. */
type ReleasePlanRecords = ResourceReleaseRecords & Pick<StoreRecords, 'accounts' | 'revisions' | 'tracks'>;

interface ReleasePush {
  package: PublishedPackage;
  releases: ReleaseRequest[];
  /** The follow-up that this release settles, if it was requested with the upload. */
  followUp?: FollowUp;
}

export interface ReleaseResult {
  channel: string;
  revision: number | null;
  resources: Release['resources'];
  /** The number of the rollout that the release started. */
  rollout?: number | undefined;
}

export const pushReleases = act({
  name: 'push_releases',
  summary: 'Release revisions of a package to channels, or close channels.',
  on: 'NAMESPACE/NAME',
  object: ({ package: { namespace, name } }: ReleasePush) => `${namespace}/${name}`,
  gate: { kinds: ['releases', 'vulnerabilities'], lines: releaseLines },

  async perform(tx, { package: subject, releases, followUp }: ReleasePush, doing): Promise<ReleaseResult[]> {
    if (followUp !== undefined) await settleFollowUp(tx, followUp);
    doing.note({ releases: releases.map(({ channel, revision }) => [channel.name, revision]) });
    const plan = await planReleases(tx, subject, releases, doing.at);
    const results: ReleaseResult[] = [];
    for (const step of plan.steps) {
      const { channel, revision, resources } = step;
      if (revision === null) await close(tx, subject, step, doing);
      const rollout = revision === null ? undefined : await fillSlots(tx, subject, { ...step, revision }, doing);
      results.push({ channel: channel.name, revision: revision?.revision ?? null, resources, rollout });
    }
    doing.note({ changes: changedLines(linesOf(subject, plan)).map(lineText) });
    return results;
  },
});

/**
 * The lines of a release, slot by slot: content before and after; and the vulnerabilities that the policies ask about.
 * Refuses releases that are not possible.
 */
export async function releaseLines(
  tx: ReleasePlanRecords & VulnerabilityLineRecords,
  { package: subject, releases }: Pick<ReleasePush, 'package' | 'releases'>,
  context: Pick<GateContext, 'at' | 'policies'>,
): Promise<ApprovalLine[]> {
  const plan = await planReleases(tx, subject, releases, context.at);
  return [...linesOf(subject, plan), ...(await vulnerabilityLines(tx, newSubjects(tx, subject, plan), context))];
}

/** The revisions that channels get: those of new releases that change their slot. */
function* newSubjects(
  records: VulnerabilityLineRecords,
  subject: PublishedPackage,
  { before, after, steps }: ReleasePlan,
): Generator<ReleasedSubject> {
  const revisions = new Map(
    steps.flatMap(({ revision }) => (revision === null ? [] : [[revision.revision, revision]])),
  );
  for (const { channel, slot, revision: number, resources } of after.filter((release) => !before.includes(release))) {
    const [from, to] = [before, after].map((all) =>
      slotText(all.filter((release) => isSameSlot(release, { channel, slot }))),
    );
    const { version, sha256 } = revisions.get(number)!;
    const contents = storedContents(records, subject.id, { revision: number, resources });
    if (from !== to) yield { package: subject, channel, revision: number, version, sha256, ...contents };
  }
}

/** The effect of one item of a request on its channel. */
interface ReleaseStep {
  channel: Channel;
  /** Null closes the channel. */
  revision: Revision | null;
  progressive: ReleaseReach;
  resources: Release['resources'];
  /** The content of the channel before this step, including the effect of earlier items of the request. */
  held: readonly Release[];
  /** The new content of the slots. */
  slots: readonly Release[];
}

interface ReleasePlan {
  before: readonly Release[];
  after: readonly Release[];
  steps: readonly ReleaseStep[];
}

/**
 * Plans all changes of a request, each item on top of the ones before it. Used for approvals and to carry out the
 * request.
 */
async function planReleases(
  tx: ReleasePlanRecords,
  subject: PublishedPackage,
  releases: readonly ReleaseRequest[],
  at: string,
): Promise<ReleasePlan> {
  const requested = releases.map(({ revision, ...request }) =>
    revision === null ? undefined : readRequested(tx, subject, { ...request, revision }),
  );
  const before = await tx.releases.current(subject.id, at);
  const steps: ReleaseStep[] = [];
  let after = before;
  for (const [index, { revision, ...request }] of releases.entries()) {
    const { channel, progressive } = request;
    await refuseTrack(tx, subject, channel);
    const held = after.filter((release) => release.channel === channel.name);
    if (revision === null) {
      steps.push({ channel, revision, progressive, resources: [], held, slots: [] });
      after = after.filter((release) => !held.includes(release));
      continue;
    }
    const filling = await fillingOf(
      tx,
      subject,
      { ...request, revision, ...(await requested[index]!) },
      { at, held, current: after },
    );
    steps.push({ channel, progressive, held, ...filling });
    after = [...after.filter((release) => !filling.slots.some((slot) => replaces(slot, release))), ...filling.slots];
  }
  return { before, after, steps };
}

/** The records of the release that a request asks for. */
interface RequestedRecords {
  rolloutPlan: Awaited<ReturnType<typeof findRolloutPlan>>;
  revisionRecord: Revision | undefined;
  declared: DeclaredResources;
}

/**
 * Reads the records of a request, with all queries at once: a server answers them in one round trip. The caller may refuse an earlier
 * request before it awaits this one.
 */
function readRequested(
  tx: ReleasePlanRecords,
  subject: PublishedPackage,
  request: ReleaseRequest & { revision: number },
): Promise<RequestedRecords> {
  const reading = Promise.all([
    findRolloutPlan(tx, subject, request),
    tx.revisions.find(subject.id, request.revision),
    tx.resources.list(subject.id, request.revision),
  ]).then(([rolloutPlan, revisionRecord, declared]) => ({ rolloutPlan, revisionRecord, declared }));
  reading.catch(() => undefined);
  return reading;
}

/** Whether a release ends another one. A full release also ends the progressive release over its slot. */
const replaces = (release: Release, other: Release): boolean =>
  isSameSlot(release, other) && (isForAllDevices(release) || !isForAllDevices(other));

/** The lines of all slots that a request touches. */
function linesOf(subject: PublishedPackage, { before, after, steps }: ReleasePlan): ApprovalLine[] {
  const touched = new Map(
    steps.flatMap(({ held, revision, slots }) =>
      (revision === null ? held : slots).map((release) => [`${release.channel} ${release.slot}`, release] as const),
    ),
  );
  return [...touched.values()].map((at) => {
    const from = before.filter((release) => isSameSlot(release, at));
    const to = after
      .filter((release) => isSameSlot(release, at))
      .map((release) => (from.includes(release) ? release : toPlannedRelease(release)));
    return slotLine(subject, at.channel, at.slot, { from: slotText(from), to: slotText(to) });
  });
}

const isForAllDevices = ({ progressive }: Release): boolean => !isProgressive(progressive);

/** Refuses a track that the package does not have. */
export async function refuseTrack(
  tx: Pick<StoreRecords, 'tracks'>,
  { id, name }: PublishedPackage,
  { track }: Channel,
): Promise<void> {
  if (await tx.tracks.has(id, track)) return;
  const tracks = (await tx.tracks.list(id)).map((entry) => entry.name);
  throw new Refusal('api-error', `'${name}' has no track '${track}'; it has ${tracks.join(', ')}.`);
}

export const expireBranches = act({
  name: 'expire_branches',
  summary: 'End the releases to branches that have expired.',
  on: 'releases',
  object: () => 'releases',
  gate: { never: 'it follows from the time alone' },

  async perform(tx, _: undefined, { at, note }) {
    const expired = await tx.releases.removeExpired(at);
    note({ expired });
    return expired;
  },
});

async function close(
  tx: ChangeRecords,
  subject: PublishedPackage,
  { channel, held }: ReleaseStep,
  doing: ActContext,
): Promise<void> {
  await requireCurrentPackage(tx, subject);
  await tx.releases.close(subject.id, channel.name);
  await recordEndedReleases(tx, held, doing);
}

/**
 * Records in the history that slots were emptied. A progressive release is skipped: the slot below it keeps its
 * revision.
 */
export async function recordEndedReleases(
  tx: ChangeRecords,
  ended: readonly Release[],
  doing: ActContext,
): Promise<void> {
  for (const { packageId, channel, slot, revision, progressive } of ended) {
    if (isProgressive(progressive)) continue;
    const emptied = { packageId, channel, slot, revision: null, before: revision, ...everyDevice };
    const when = { releasedAt: doing.at, releasedBy: doing.actor };
    await tx.pastReleases.add({ ...emptied, resources: [], expiresAt: null, ...when });
  }
}

/** The slots that a release fills. Refuses a release that is not possible. */
async function fillingOf(
  tx: ReleasePlanRecords,
  subject: PublishedPackage,
  request: ReleaseRequest & RequestedRecords & { revision: number },
  { at, held, current }: { at: string; held: readonly Release[]; current: readonly Release[] },
): Promise<Pick<ReleaseStep, 'resources' | 'slots'> & { revision: Revision }> {
  const { channel, progressive, rolloutPlan, revisionRecord: revision } = request;
  if (revision === undefined) {
    throw new Refusal('api-error', await describeMissingRevision(tx, subject, request.revision));
  }
  if (revision.withdrawnAt !== null) throw withdrawn(subject, revision);
  refuseRisk(subject, revision, channel);
  if (isProgressive(progressive) && isWholeChannel(subject.namespace)) {
    throw new Refusal(
      'api-error',
      `A ${subject.type} is released to all devices at once. Leave out 'progressive' for '${channel.name}'.`,
    );
  }
  const resources = await resolveResources(tx, subject, request, current);
  const filled = { packageId: subject.id, channel: channel.name, revision: revision.revision, progressive };
  const rest = { resources, releasedAt: at, expiresAt: branchExpiry(channel, at) };
  const slots = slotsOf(subject.namespace, revision.details)
    .filter(({ slot }) => request.onlyIfNewer !== true || (heldFor(held, slot) ?? 0) < revision.revision)
    .map((slot) => ({ ...filled, ...slot, ...rest }));
  return { revision, resources, slots: toRolloutSlots(slots, rolloutPlan, held) };
}

/** The revision that a slot gives to all devices. */
const heldFor = (held: readonly Release[], slot: string): number | null =>
  held.find((release) => release.slot === slot && isForAllDevices(release))?.revision ?? null;

/** Fills the slots. Returns the number of the rollout that the release starts, if it has a plan. */
async function fillSlots(
  tx: ChangeRecords,
  subject: PublishedPackage,
  { channel, revision, slots, held }: ReleaseStep & { revision: Revision },
  doing: ActContext,
): Promise<number | undefined> {
  if (slots.length === 0) return undefined;
  const plan = slots.find((filled) => filled.plan !== undefined)?.plan;
  const started = { packageId: subject.id, channel: channel.name, revision: revision.revision };
  const rollout =
    plan &&
    (await tx.rollouts.add({
      ...started,
      plan,
      startedAt: doing.at,
      startedBy: doing.actor,
      acceptedVulnerabilities: await seenVulnerabilities(tx, subject, started, doing.at),
    }));
  for (const planned of slots) {
    const { slot, progressive } = planned;
    const filled = planned.plan === undefined || rollout === undefined ? planned : { ...planned, rollout };
    // A full release ends a progressive release over the slot.
    if (
      !isProgressive(progressive) &&
      held.some((release) => release.slot === slot && isProgressive(release.progressive))
    )
      await tx.releases.endProgress(subject.id, channel.name, slot);
    await tx.releases.fill(filled);
    await recordRelease(tx, filled, heldFor(held, slot), doing);
  }
  if (revision.status === 'approved') await tx.revisions.markReleased(subject.id, revision.revision);
  // A published package stays published, and a package with a revision cannot be unregistered.
  if (subject.status === 'registered') await tx.packages.publish(subject.id);
  return rollout;
}

/** Refuses to release a snap of grade devel or confinement devmode to stable or candidate. */
function refuseRisk(
  { name }: Pick<PublishedPackage, 'name'>,
  { revision, details }: Pick<Revision, 'revision' | 'details'>,
  { name: channel, risk }: Channel,
): void {
  const problem = riskProblem(details, risk);
  if (problem === undefined) return;
  throw new Refusal(
    'api-error',
    `Revision ${revision} of '${name}' cannot be released to '${channel}': ${problem}. ` +
      'Release it to beta or edge, or push a revision that is built for stable.',
  );
}

/** Refuses, as a release does, to give a channel a revision that is not fit for its risk. Called before a transfer is undone. */
export async function refuseRiskAgain(
  { packages, revisions }: Pick<ChangeRecords, 'packages' | 'revisions'>,
  { packageId, revision, channel }: Pick<Release, 'packageId' | 'revision' | 'channel'>,
): Promise<void> {
  const [subject, revisionRecord, place] = [
    await packages.byId(packageId),
    await revisions.find(packageId, revision),
    parseChannel(channel),
  ];
  if (subject !== undefined && revisionRecord !== undefined && place !== undefined)
    refuseRisk(subject, revisionRecord, place);
}

const withdrawn = ({ name }: PublishedPackage, { revision, withdrawnBecause }: Revision): Refusal =>
  new Refusal(
    'api-error',
    `Revision ${revision} of '${name}' is withdrawn and cannot be released before it is restored: ${withdrawnBecause ?? ''}`,
  );

/** Records in the history the new content of a slot, and the revision that it gave to all devices before. */
export const recordRelease = (
  tx: ChangeRecords,
  { packageId, channel, slot, revision, progressive, resources, expiresAt }: Release,
  before: number | null,
  { at, actor }: Pick<ActContext, 'at' | 'actor'>,
): Promise<unknown> =>
  tx.pastReleases.add({
    packageId,
    channel,
    slot,
    revision,
    before,
    ...progressive,
    resources,
    expiresAt,
    releasedAt: at,
    releasedBy: actor,
  });

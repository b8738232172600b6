// Releases: change what the channels of a package give to clients.
import { changedLines, lineText, type Line } from '#domain/approvals.ts';
import { parseChannel, type Channel } from '#domain/channel.ts';
import { everybody, isProgressive, isWholeChannel, slotsOf, type Progress } from '#domain/channel-map.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { slotText } from '#domain/release-text.ts';
import { riskProblem } from '#domain/risk-problem.ts';
import type { Wish } from '#records/after-review.ts';
import type { Changes, Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import type { Revision } from '#records/revisions.ts';
import { act, type Doing } from './act.ts';
import { settleWish } from './after-review.ts';
import { latestOf, whyNoRevision } from './package.ts';
import { isSameSlot, slotLine } from './release-lines.ts';
import { resourcesOf, type ReadResources } from './released-resources.ts';

/** A branch ends this many days after its last release. */
const branchDays = 30;

/** When a release to a channel at this moment ends; null if the channel is not a branch. */
export const branchExpiry = ({ branch }: Channel, releasedAt: string): string | null =>
  branch === null ? null : timestamp(after(new Date(releasedAt), days(branchDays)));

type Ending = Pick<Release, 'channel' | 'releasedAt' | 'expiresAt'>;

/**
 * Prepares a planned release for its text: the life of a branch is given in days, because it begins with the release.
 */
export function unmade<Made extends Ending>(release: Made): Made & { lifeDays?: number } {
  const channel = parseChannel(release.channel);
  const isUsual = channel !== undefined && release.expiresAt === branchExpiry(channel, release.releasedAt);
  return isUsual && release.expiresAt !== null ? { ...release, lifeDays: branchDays } : release;
}

/** The release that a request asks for in one channel; a null revision closes the channel. */
export interface Wanted {
  channel: Channel;
  revision: number | null;
  progressive: Progress;
  /** The named revisions of resources. The others follow from earlier releases. */
  resources: { name: string; revision: number | null }[];
  /** Skips slots that hold this revision or a newer one. */
  onlyIfNewer?: boolean;
}

/** The records that a release plan reads. */
type Reading = ReadResources & Pick<Records, 'revisions' | 'tracks'>;

interface Push {
  package: PublishedPackage;
  releases: Wanted[];
  /** The follow-up that this release settles, if it was requested with the upload. */
  wish?: Wish;
}

export interface Released {
  channel: string;
  revision: number | null;
  resources: Release['resources'];
}

export const pushReleases = act({
  name: 'push_releases',
  summary: 'Release revisions of a package to channels, or close channels.',
  on: 'NAMESPACE/NAME',
  object: ({ package: { namespace, name } }: Push) => `${namespace}/${name}`,
  gate: { kinds: ['releases'], lines: releaseLines },

  async perform(tx, { package: subject, releases, wish }: Push, doing): Promise<Released[]> {
    if (wish !== undefined) await settleWish(tx, wish);
    doing.note({ releases: releases.map(({ channel, revision }) => [channel.name, revision]) });
    const plan = await planReleases(tx, subject, releases, doing.at);
    for (const step of plan.steps) {
      if (step.revision === null) await close(tx, subject, step, doing);
      else await fillSlots(tx, subject, { ...step, revision: step.revision }, doing);
    }
    doing.note({ changes: changedLines(linesOf(subject, plan)).map(lineText) });
    return plan.steps.map(({ channel, revision, resources }) => ({
      ...{ channel: channel.name, revision: revision?.revision ?? null, resources },
    }));
  },
});

/** The lines of a release, slot by slot: content before and after. Refuses releases that are not possible. */
export async function releaseLines(
  tx: Reading,
  { package: subject, releases }: Pick<Push, 'package' | 'releases'>,
  { at }: { at: string },
): Promise<Line[]> {
  return linesOf(subject, await planReleases(tx, subject, releases, at));
}

/** The effect of one item of a request on its channel. */
interface ReleaseStep {
  channel: Channel;
  /** Null closes the channel. */
  revision: Revision | null;
  progressive: Progress;
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
  tx: Reading,
  subject: PublishedPackage,
  releases: readonly Wanted[],
  at: string,
): Promise<ReleasePlan> {
  const before = await tx.releases.current(subject.id, at);
  const steps: ReleaseStep[] = [];
  let after = before;
  for (const { revision, ...wanted } of releases) {
    const { channel, progressive } = wanted;
    await refuseTrack(tx, subject, channel);
    const held = after.filter((one) => one.channel === channel.name);
    if (revision === null) {
      steps.push({ channel, revision, progressive, resources: [], held, slots: [] });
      after = after.filter((one) => !held.includes(one));
      continue;
    }
    const filling = await fillingOf(tx, subject, { ...wanted, revision }, { at, held, current: after });
    steps.push({ channel, progressive, held, ...filling });
    after = [...after.filter((one) => !filling.slots.some((slot) => replaces(slot, one))), ...filling.slots];
  }
  return { before, after, steps };
}

/** Whether a release ends another one. A full release also ends the progressive release over its slot. */
const replaces = (release: Release, other: Release): boolean =>
  isSameSlot(release, other) && (isForEverybody(release) || !isForEverybody(other));

/** The lines of all slots that a request touches. */
function linesOf(subject: PublishedPackage, { before, after, steps }: ReleasePlan): Line[] {
  const touched = new Map(
    steps.flatMap(({ held, revision, slots }) =>
      (revision === null ? held : slots).map((one) => [`${one.channel} ${one.slot}`, one] as const),
    ),
  );
  return [...touched.values()].map((at) => {
    const from = before.filter((one) => isSameSlot(one, at));
    const to = after.filter((one) => isSameSlot(one, at)).map((one) => (from.includes(one) ? one : unmade(one)));
    return slotLine(subject, at.channel, at.slot, { from: slotText(from), to: slotText(to) });
  });
}

const isForEverybody = ({ progressive }: Release): boolean => !isProgressive(progressive);

/** Refuses a track that the package does not have. */
async function refuseTrack(
  tx: Pick<Records, 'tracks'>,
  { id, name }: PublishedPackage,
  { track }: Channel,
): Promise<void> {
  if (await tx.tracks.has(id, track)) return;
  const tracks = (await tx.tracks.list(id)).map((one) => one.name);
  throw new Refusal('api-error', `'${name}' has no track '${track}'; it has ${tracks.join(', ')}.`);
}

export const expireBranches = act({
  name: 'expire_branches',
  summary: 'Forget the releases to branches that have expired.',
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
  tx: Changes,
  subject: PublishedPackage,
  { channel, held }: ReleaseStep,
  doing: Doing,
): Promise<void> {
  await latestOf(tx, subject);
  await tx.releases.close(subject.id, channel.name);
  await rememberEnded(tx, held, doing);
}

/**
 * Records in the history that slots were emptied. A progressive release is skipped: the slot below it keeps its
 * revision.
 */
export async function rememberEnded(tx: Changes, ended: readonly Release[], doing: Doing): Promise<void> {
  for (const { packageId, channel, slot, revision, progressive } of ended) {
    if (isProgressive(progressive)) continue;
    const emptied = { packageId, channel, slot, revision: null, before: revision, ...everybody };
    const when = { releasedAt: doing.at, releasedBy: doing.actor };
    await tx.pastReleases.add({ ...emptied, resources: [], expiresAt: null, ...when });
  }
}

/** The slots that a release fills. Refuses a release that is not possible. */
async function fillingOf(
  tx: Reading,
  subject: PublishedPackage,
  wanted: Wanted & { revision: number },
  { at, held, current }: { at: string; held: readonly Release[]; current: readonly Release[] },
): Promise<Pick<ReleaseStep, 'resources' | 'slots'> & { revision: Revision }> {
  const { channel, progressive } = wanted;
  const revision = await tx.revisions.find(subject.id, wanted.revision);
  if (revision === undefined) {
    throw new Refusal('api-error', await whyNoRevision(tx, subject, wanted.revision));
  }
  if (revision.withdrawnAt !== null) throw withdrawn(subject, revision);
  refuseRisk(subject, revision, channel);
  if (isProgressive(progressive) && isWholeChannel(subject.namespace)) {
    throw new Refusal(
      'api-error',
      `A ${subject.type} is released to everybody at once; leave out 'progressive' for '${channel.name}'.`,
    );
  }
  const resources = await resourcesOf(tx, subject, wanted, current);
  const filled = { packageId: subject.id, channel: channel.name, revision: revision.revision, progressive };
  const rest = { resources, releasedAt: at, expiresAt: branchExpiry(channel, at) };
  const slots = slotsOf(subject.namespace, revision.details)
    .filter(({ slot }) => wanted.onlyIfNewer !== true || (heldFor(held, slot) ?? 0) < revision.revision)
    .map((slot) => ({ ...filled, ...slot, ...rest }));
  return { revision, resources, slots };
}

/** The revision that a slot gives to all devices. */
const heldFor = (held: readonly Release[], slot: string): number | null =>
  held.find((one) => one.slot === slot && isForEverybody(one))?.revision ?? null;

async function fillSlots(
  tx: Changes,
  subject: PublishedPackage,
  { channel, revision, progressive, slots, held }: ReleaseStep & { revision: Revision },
  doing: Doing,
): Promise<void> {
  if (slots.length === 0) return;
  for (const filled of slots) {
    const { slot } = filled;
    // A full release ends a progressive release over the slot.
    if (!isProgressive(progressive) && held.some((one) => one.slot === slot && isProgressive(one.progressive)))
      await tx.releases.endProgress(subject.id, channel.name, slot);
    await tx.releases.fill(filled);
    await remember(tx, filled, heldFor(held, slot), doing);
  }
  if (revision.status === 'approved') await tx.revisions.markReleased(subject.id, revision.revision);
  // A published package stays published.
  const { status } = await latestOf(tx, subject);
  if (status === 'registered') await tx.packages.publish(subject.id);
}

/** Refuses to release a revision that declares itself unfinished to a channel for finished software. */
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

/** The same check before a channel gets an earlier revision back. */
export async function refuseRiskAgain(
  { packages, revisions }: Pick<Changes, 'packages' | 'revisions'>,
  { packageId, revision, channel }: Pick<Release, 'packageId' | 'revision' | 'channel'>,
): Promise<void> {
  const [subject, found, place] = [
    await packages.byId(packageId),
    await revisions.find(packageId, revision),
    parseChannel(channel),
  ];
  if (subject !== undefined && found !== undefined && place !== undefined) refuseRisk(subject, found, place);
}

const withdrawn = ({ name }: PublishedPackage, { revision, withdrawnBecause }: Revision): Refusal =>
  new Refusal(
    'api-error',
    `Revision ${revision} of '${name}' is withdrawn and cannot be released before it is brought back: ${withdrawnBecause ?? ''}`,
  );

/** Records in the history the new content of a slot, and the revision that it gave to all devices before. */
export const remember = (
  tx: Changes,
  { packageId, channel, slot, revision, progressive, resources, expiresAt }: Release,
  before: number | null,
  { at, actor }: Pick<Doing, 'at' | 'actor'>,
): Promise<unknown> =>
  tx.pastReleases.add({
    ...{ packageId, channel, slot, revision, before, ...progressive, resources, expiresAt },
    ...{ releasedAt: at, releasedBy: actor },
  });

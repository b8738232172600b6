// Releases: what a package's channels give to whoever asks for them.
import type { Line } from '#domain/approvals.ts';
import { parseChannel, type Channel } from '#domain/channel.ts';
import { isProgressive, isWholeChannel, slotsOf, type Progress } from '#domain/channel-map.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { riskProblem } from '#domain/risk-problem.ts';
import type { Wish } from '#records/after-review.ts';
import type { Changes, Records } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import type { Revision } from '#records/revisions.ts';
import { act, type Doing } from './act.ts';
import { settleWish } from './after-review.ts';
import { latestOf, whyNoRevision } from './package.ts';
import { heldInWords, slotLine } from './release-lines.ts';
import { resourcesOf, type ReadResources } from './released-resources.ts';

/** A branch is forgotten so long after its last release. */
const branchLife = days(30);

/** When what was released to a channel at this moment is forgotten; never where it is no branch. */
export const branchExpiry = ({ branch }: Channel, releasedAt: string): string | null =>
  branch === null ? null : timestamp(after(new Date(releasedAt), branchLife));

/** What one channel is to hold; no revision closes it. */
export interface Wanted {
  channel: Channel;
  revision: number | null;
  progressive: Progress;
  /** The revisions of resources that are named; the others follow from what was released before. */
  resources: { name: string; revision: number | null }[];
  /** Leaves a part of the channel as it is that holds this revision or a newer one. */
  onlyIfNewer?: boolean;
}

/** What is read to know what a release would change. */
type Reading = ReadResources & Pick<Records, 'revisions' | 'tracks'>;

interface Push {
  package: PublishedPackage;
  releases: Wanted[];
  /** What this settles, where it is done because somebody wanted it after a review. */
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
    const released: Released[] = [];
    for (const { revision, ...wanted } of releases) {
      const { channel } = wanted;
      await refuseTrack(tx, subject, channel);
      if (revision === null) await close(tx, subject, channel, doing);
      const resources = revision === null ? [] : await release(tx, subject, { ...wanted, revision }, doing);
      released.push({ channel: channel.name, revision, resources });
    }
    return released;
  },
});

/** What each channel held and would hold, slot by slot; refuses what cannot be released. */
export async function releaseLines(
  tx: Reading,
  { package: subject, releases }: Pick<Push, 'package' | 'releases'>,
  { at }: { at: string },
): Promise<Line[]> {
  const lines: Line[] = [];
  for (const { revision, ...wanted } of releases) {
    await refuseTrack(tx, subject, wanted.channel);
    const { name } = wanted.channel;
    const held = await tx.releases.inChannel(subject.id, name, at);
    const heldIn = (slot: string): Release[] => held.filter((one) => one.slot === slot);
    const line = (slot: string, to: Release[]): Line =>
      slotLine(subject, name, slot, { from: heldInWords(heldIn(slot)), to: heldInWords(to) });
    if (revision === null) {
      lines.push(...[...new Set(held.map(({ slot }) => slot))].map((slot) => line(slot, [])));
      continue;
    }
    const filled = await fillingOf(tx, subject, { ...wanted, revision }, at);
    for (const release of filled.slots) {
      const stays = isProgressive(wanted.progressive) ? heldIn(release.slot).filter(isForEverybody) : [];
      lines.push(line(release.slot, [...stays, release]));
    }
  }
  return lines;
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

async function close(tx: Changes, subject: PublishedPackage, { name }: Channel, doing: Doing): Promise<void> {
  await latestOf(tx, subject);
  const before = await tx.releases.inChannel(subject.id, name, doing.at);
  await tx.releases.close(subject.id, name);
  await rememberEnded(tx, before, doing);
}

/** Keeps in the history that slots were emptied; one that a progressive release lay over holds what it held. */
export async function rememberEnded(tx: Changes, ended: readonly Release[], doing: Doing): Promise<void> {
  for (const { packageId, channel, slot, revision, progressive } of ended) {
    if (isProgressive(progressive)) continue;
    await remember(tx, { packageId, channel, slot, revision: null, before: revision }, doing);
  }
}

/** A revision as it fills the slots of a channel, and what the channel held before. */
interface Filling {
  revision: Revision;
  resources: Release['resources'];
  slots: Release[];
  held: Release[];
}

/** What a release fills; refuses what cannot be released. */
async function fillingOf(
  tx: Reading,
  subject: PublishedPackage,
  wanted: Wanted & { revision: number },
  at: string,
): Promise<Filling> {
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
  const resources = await resourcesOf(tx, subject, { ...wanted, now: at });
  const held = await tx.releases.inChannel(subject.id, channel.name, at);
  const filled = { packageId: subject.id, channel: channel.name, revision: revision.revision, progressive };
  const rest = { resources, releasedAt: at, expiresAt: branchExpiry(channel, at) };
  const slots = slotsOf(subject.namespace, revision.details)
    .filter(({ slot }) => wanted.onlyIfNewer !== true || (heldFor(held, slot) ?? 0) < revision.revision)
    .map((slot) => ({ ...filled, ...slot, ...rest }));
  return { revision, resources, slots, held };
}

/** What a slot holds for everybody. */
const heldFor = (held: readonly Release[], slot: string): number | null =>
  held.find((one) => one.slot === slot && isForEverybody(one))?.revision ?? null;

async function release(
  tx: Changes,
  subject: PublishedPackage,
  wanted: Wanted & { revision: number },
  doing: Doing,
): Promise<Release['resources']> {
  const { channel, progressive } = wanted;
  const { revision, resources, slots, held } = await fillingOf(tx, subject, wanted, doing.at);
  if (slots.length === 0) return resources;
  for (const filled of slots) {
    const { packageId, slot } = filled;
    // What is released to everybody ends what lay over the slot for a part of the devices.
    if (!isProgressive(progressive) && held.some((one) => one.slot === slot && isProgressive(one.progressive)))
      await tx.releases.endProgress(subject.id, channel.name, slot);
    await tx.releases.fill(filled);
    const kept = { packageId, channel: channel.name, slot, revision: revision.revision, before: heldFor(held, slot) };
    await remember(tx, { ...kept, ...progressive }, doing);
  }
  if (revision.status === 'approved') await tx.revisions.markReleased(subject.id, revision.revision);
  // A package that is published stays so.
  if (subject.status === 'registered') await tx.packages.publish(subject.id);
  return resources;
}

/** Refuses a channel that takes only finished software to a revision that states that it is unfinished. */
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

/** The same for what a channel held before, and is to hold again. */
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

type Past = Parameters<Changes['pastReleases']['add']>[0];

/** Keeps in the history what a slot holds from now on; nothing where it was emptied. */
export const remember = (
  tx: Changes,
  past: Omit<Past, 'percentage' | 'paused' | 'releasedAt' | 'releasedBy'> & Partial<Progress>,
  { at, actor }: Doing,
): Promise<unknown> =>
  tx.pastReleases.add({ percentage: null, paused: null, ...past, releasedAt: at, releasedBy: actor });

// Adds releases of gathered packages according to the saved responses. If a response does not determine the slot of a release, reports it
// instead of guessing.
import { newestOfSlots, type ChannelSlot } from '#domain/releases/channel-map.ts';
import { timestamp } from '#domain/clock.ts';
import type { ReportedPackage, ReportedRelease } from './saved-responses.ts';
import type { GatheredPackage } from './gathered-content.ts';
import type { GatherState } from './gather-state.ts';

/** Adds the releases of all gathered packages. */
export function takeReleases(sorting: GatherState): void {
  const packagesById = new Map(sorting.gathered.packages.map((entry) => [entry.about.id, entry]));
  const without: string[] = [];
  for (const reported of sorting.answers.all) {
    const entry = packagesById.get(reported.id);
    if (entry === undefined) without.push(reported.name);
    else releasesOf(reported, entry, sorting);
  }
  if (without.length > 0) {
    const names = without.slice(0, 20).join(', ');
    const more = without.length > 20 ? ` and ${String(without.length - 20)} more` : '';
    sorting.gathered.leave('answers', `They describe packages without a file in the folder: ${names}${more}.`);
  }
  for (const entry of packagesById.values()) if (entry.about.namespace === 'snap') releaseRest(entry, sorting);
}

function releasesOf(reported: ReportedPackage, entry: GatheredPackage, sorting: GatherState): void {
  const missing = new Set<number>();
  for (const release of reported.releases) {
    const at = { packageId: reported.id, package: entry.called, channel: release.channel, revision: release.revision };
    if (!entry.hasRevision(release.revision)) {
      sorting.reportedSlots.push({ ...at, slot: slotSaid(release) });
      missing.add(release.revision);
      continue;
    }
    const slots = sorting.slots.get(`${reported.id}/${String(release.revision)}`) ?? [];
    const fitting = fittingSlots(release, slots, reported);
    const subject = `${entry.called} ${release.channel}`;
    if (fitting === 'told elsewhere') continue;
    sorting.reportedSlots.push(...fitting.map(({ slot }) => ({ ...at, slot })));
    if (fitting.length === 0) {
      sorting.gathered.leave(
        subject,
        `No response in the folder says which of ${slots.map(({ slot }) => slot).join(', ')} gets revision ${String(release.revision)}. Save the response of the store to info in the folder.`,
      );
      continue;
    }
    fill(release, fitting, { reported, entry, sorting, subject });
  }
  if (missing.size > 0) {
    const numbers = [...missing].sort((a, b) => a - b);
    const numberList = numbers.slice(0, 20).join(', ') + (numbers.length > 20 ? ', …' : '');
    sorting.gathered.leave(
      entry.called,
      `Channels with revisions that are not in the folder stay as they are: ${numberList}.`,
    );
  }
}

const slotSaid = ({ base, architecture }: ReportedRelease): string =>
  base === undefined ? (architecture ?? '*') : `${base.name}/${base.channel}/${base.architecture}`;

/** Returns the slots of a revision that a response refers to. */
function fittingSlots(
  { base, architecture, ...release }: ReportedRelease,
  slots: ChannelSlot[],
  reported: ReportedPackage,
): ChannelSlot[] | 'told elsewhere' {
  const whole = slots.filter(
    (candidate) => candidate.slot === '*' || candidate.slot === 'all' || candidate.slot === 'all/all/all',
  );
  if (whole.length > 0) return whole;
  if (base !== undefined) {
    const slotName = `${base.name}/${base.channel}/${base.architecture}`;
    return slots.filter(({ slot }) => slot === slotName);
  }
  if (architecture !== undefined) return slots.filter(({ slot }) => slot === architecture);
  const isClear = reported.releases.some(
    (candidate) =>
      candidate.channel === release.channel &&
      candidate.revision === release.revision &&
      (candidate.base !== undefined || candidate.architecture !== undefined),
  );
  if (isClear) return 'told elsewhere';
  return slots.length === 1 ? slots : [];
}

interface GatheredReleaseContext {
  reported: ReportedPackage;
  entry: GatheredPackage;
  sorting: GatherState;
  subject: string;
}

function fill(
  release: ReportedRelease,
  slots: readonly ChannelSlot[],
  { reported, entry, sorting, subject }: GatheredReleaseContext,
): void {
  const requiredResources = release.resources ?? resourcesElsewhere(reported, release) ?? [];
  const lost = requiredResources.find(({ name, revision }) => !entry.hasResource(name, revision));
  if (lost !== undefined) {
    sorting.gathered.leave(
      subject,
      `Its resource ${lost.name}, revision ${String(lost.revision)}, is not in the folder, so it is not released.`,
    );
    return;
  }
  const resources = requiredResources.map(({ name, revision }) => ({
    name,
    type: entry.typeOfResource(name) ?? '',
    revision,
  }));
  const releasedAt = release.releasedAt ?? reported.revisions.get(release.revision)?.createdAt;
  for (const { slot, architecture, baseName, baseChannel } of slots) {
    entry.addRelease({
      channel: release.channel,
      slot,
      revision: release.revision,
      ...(architecture !== null && { architecture }),
      ...(baseName !== null && baseChannel !== null && { base: { name: baseName, channel: baseChannel } }),
      ...(resources.length > 0 && { resources }),
      'released-at': releasedAt ?? timestamp(sorting.gathering.now),
    });
  }
}

/** Info responses omit the resources of a release; refresh responses contain them. */
const resourcesElsewhere = (
  reported: ReportedPackage,
  { channel, revision }: ReportedRelease,
): ReportedRelease['resources'] =>
  reported.releases.find(
    (candidate) =>
      candidate.channel === channel && candidate.revision === revision && candidate.resources !== undefined,
  )?.resources;

/**
 * Releases the newest revision per architecture of a snap if no response names a channel. Uses the channels that the person named, or else
 * the channel of the site's subscription if there is exactly one.
 */
function releaseRest(entry: GatheredPackage, { answers, gathering, slots, gathered }: GatherState): void {
  const { id, name } = entry.about;
  if ((answers.find(id)?.releases.length ?? 0) > 0) return;
  const requestedChannels =
    gathering.request?.subscriptions.find(
      (subscription) => subscription.namespace === 'snap' && subscription.name === name,
    )?.channels ?? [];
  const channelNames = gathering.releaseTo.map((channel) => channel.name);
  if (channelNames.length === 0 && requestedChannels.length > 1)
    gathered.leave(
      entry.called,
      `No response in the folder says which of the requested channels hold it: ${requestedChannels.join(', ')}.`,
    );
  const channels = channelNames.length === 0 && requestedChannels.length === 1 ? requestedChannels : channelNames;
  const revisions = entry.numbers.map((revision) => ({
    revision,
    architectures: (slots.get(`${id}/${String(revision)}`) ?? []).map(({ slot }) => slot),
  }));
  for (const { revision, architectures } of newestOfSlots(revisions)) {
    for (const channel of channels) {
      for (const architecture of architectures)
        entry.addRelease({
          channel,
          slot: architecture,
          architecture,
          revision,
          'released-at': timestamp(gathering.now),
        });
    }
  }
}

/** Reports subscriptions of a request that the folder does not meet. */
export function reportUnmetSubscriptions({ gathering: { request }, gathered }: GatherState): void {
  if (request === undefined) return;
  const packagesByName = new Map(gathered.packages.map((entry) => [entry.called, entry]));
  for (const { namespace, name, channels } of request.subscriptions) {
    const entry = packagesByName.get(`${namespace}/${name}`);
    if (entry === undefined) gathered.leave(`${namespace}/${name}`, notInFolder);
    for (const channel of entry === undefined ? [] : channels.filter((some) => !entry.fills(some)))
      gathered.leave(
        `${namespace}/${name} ${channel}`,
        'It was requested, but no file in the folder says which revision that channel holds.',
      );
  }
  for (const { namespace, name } of request.missing) {
    const called = `${namespace}/${name.split(':')[0] ?? ''}`;
    if (!packagesByName.has(called)) gathered.leave(called, notInFolder);
  }
}

const notInFolder = 'It was requested, but it is not in the folder.';

// Adds releases of gathered packages according to the saved responses. If a response does not determine the slot of a release, reports it
// instead of guessing.
import { newestOfSlots, type Slot } from '#domain/channel-map.ts';
import { timestamp } from '#domain/clock.ts';
import type { SaidPackage, SaidRelease } from './answers.ts';
import type { FoundPackage } from './gathered.ts';
import type { Sorting } from './sorting.ts';

/** Adds the releases of all gathered packages. */
export function takeReleases(sorting: Sorting): void {
  const found = new Map(sorting.gathered.packages.map((one) => [one.about.id, one]));
  const without: string[] = [];
  for (const said of sorting.answers.all) {
    const one = found.get(said.id);
    if (one === undefined) without.push(said.name);
    else releasesOf(said, one, sorting);
  }
  if (without.length > 0) {
    const named = without.slice(0, 20).join(', ');
    const more = without.length > 20 ? ` and ${String(without.length - 20)} more` : '';
    sorting.gathered.leave('answers', `They speak of packages of which no file is in the folder: ${named}${more}.`);
  }
  for (const one of found.values()) if (one.about.namespace === 'snap') releaseRest(one, sorting);
}

function releasesOf(said: SaidPackage, found: FoundPackage, sorting: Sorting): void {
  const missing = new Set<number>();
  for (const release of said.releases) {
    const at = { packageId: said.id, package: found.called, channel: release.channel, revision: release.revision };
    if (!found.hasRevision(release.revision)) {
      sorting.said.push({ ...at, slot: slotSaid(release) });
      missing.add(release.revision);
      continue;
    }
    const slots = sorting.slots.get(`${said.id}/${String(release.revision)}`) ?? [];
    const fitting = fittingSlots(release, slots, said);
    const what = `${found.called} ${release.channel}`;
    if (fitting === 'told elsewhere') continue;
    sorting.said.push(...fitting.map(({ slot }) => ({ ...at, slot })));
    if (fitting.length === 0) {
      sorting.gathered.leave(
        what,
        `No answer in the folder says which of ${slots.map(({ slot }) => slot).join(', ')} revision ${String(release.revision)} is released to; what the store answers to info says so.`,
      );
      continue;
    }
    fill(release, fitting, { said, found, sorting, what });
  }
  if (missing.size > 0) {
    const numbers = [...missing].sort((a, b) => a - b);
    const named = numbers.slice(0, 20).join(', ') + (numbers.length > 20 ? ', …' : '');
    sorting.gathered.leave(
      found.called,
      `Channels that hold other revisions stay as they are: ${named} are not in the folder.`,
    );
  }
}

const slotSaid = ({ base, architecture }: SaidRelease): string =>
  base === undefined ? (architecture ?? '*') : `${base.name}/${base.channel}/${base.architecture}`;

/** Returns the slots of a revision that a response refers to. */
function fittingSlots(
  { base, architecture, ...release }: SaidRelease,
  slots: Slot[],
  said: SaidPackage,
): Slot[] | 'told elsewhere' {
  const whole = slots.filter((one) => one.slot === '*' || one.slot === 'all' || one.slot === 'all/all/all');
  if (whole.length > 0) return whole;
  if (base !== undefined) {
    const wanted = `${base.name}/${base.channel}/${base.architecture}`;
    return slots.filter(({ slot }) => slot === wanted);
  }
  if (architecture !== undefined) return slots.filter(({ slot }) => slot === architecture);
  const isClear = said.releases.some(
    (one) =>
      one.channel === release.channel &&
      one.revision === release.revision &&
      (one.base !== undefined || one.architecture !== undefined),
  );
  if (isClear) return 'told elsewhere';
  return slots.length === 1 ? slots : [];
}

interface Filling {
  said: SaidPackage;
  found: FoundPackage;
  sorting: Sorting;
  what: string;
}

function fill(release: SaidRelease, slots: readonly Slot[], { said, found, sorting, what }: Filling): void {
  const named = release.resources ?? resourcesElsewhere(said, release) ?? [];
  const lost = named.find(({ name, revision }) => !found.hasResource(name, revision));
  if (lost !== undefined) {
    sorting.gathered.leave(
      what,
      `Its resource ${lost.name}, revision ${String(lost.revision)}, is not in the folder, so it is not released.`,
    );
    return;
  }
  const resources = named.map(({ name, revision }) => ({ name, type: found.typeOfResource(name) ?? '', revision }));
  const releasedAt = release.releasedAt ?? said.revisions.get(release.revision)?.createdAt;
  for (const { slot, architecture, baseName, baseChannel } of slots) {
    found.addRelease({
      ...{ channel: release.channel, slot, revision: release.revision },
      ...(architecture !== null && { architecture }),
      ...(baseName !== null && baseChannel !== null && { base: { name: baseName, channel: baseChannel } }),
      ...(resources.length > 0 && { resources }),
      'released-at': releasedAt ?? timestamp(sorting.gathering.now),
    });
  }
}

/** Info responses omit the resources of a release; refresh responses contain them. */
const resourcesElsewhere = (said: SaidPackage, { channel, revision }: SaidRelease): SaidRelease['resources'] =>
  said.releases.find((one) => one.channel === channel && one.revision === revision && one.resources !== undefined)
    ?.resources;

/**
 * Releases the newest revision per architecture of a snap if no response names a channel. Uses the channels that the person named, or else
 * the channel of the site's subscription if there is exactly one.
 */
function releaseRest(found: FoundPackage, { answers, gathering, slots, gathered }: Sorting): void {
  const { id, name } = found.about;
  if ((answers.find(id)?.releases.length ?? 0) > 0) return;
  const wished =
    gathering.request?.subscriptions.find((one) => one.namespace === 'snap' && one.name === name)?.channels ?? [];
  const named = gathering.releaseTo.map((one) => one.name);
  if (named.length === 0 && wished.length > 1)
    gathered.leave(
      found.called,
      `No answer in the folder says which of the channels that are wished for hold it: ${wished.join(', ')}.`,
    );
  const channels = named.length === 0 && wished.length === 1 ? wished : named;
  const revisions = found.numbers.map((revision) => ({
    revision,
    architectures: (slots.get(`${id}/${String(revision)}`) ?? []).map(({ slot }) => slot),
  }));
  for (const { revision, architectures } of newestOfSlots(revisions)) {
    for (const channel of channels) {
      for (const architecture of architectures)
        found.addRelease({
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
export function tellUnmet({ gathering: { request }, gathered }: Sorting): void {
  if (request === undefined) return;
  const found = new Map(gathered.packages.map((one) => [one.called, one]));
  for (const { namespace, name, channels } of request.subscriptions) {
    const one = found.get(`${namespace}/${name}`);
    if (one === undefined) gathered.leave(`${namespace}/${name}`, wishedFor);
    for (const channel of one === undefined ? [] : channels.filter((some) => !one.fills(some)))
      gathered.leave(
        `${namespace}/${name} ${channel}`,
        'The request wishes for it, and nothing in the folder says what that channel holds.',
      );
  }
  for (const { namespace, name } of request.missing) {
    const called = `${namespace}/${name.split(':')[0] ?? ''}`;
    if (!found.has(called)) gathered.leave(called, wishedFor);
  }
}

const wishedFor = 'The request wishes for it, and it is not in the folder.';

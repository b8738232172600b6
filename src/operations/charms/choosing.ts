// Which revision of a charm juju gets: by its number, or out of a channel for a base.
import type { HandlerRecords } from '#api/handler-records.ts';
import type { CharmBase } from '#api/wire.ts';
import { choose } from '#domain/channel-map.ts';
import { channel as channelOf, parseChannel, type Channel } from '#domain/channel.ts';
import { timestamp } from '#domain/clock.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import type { RevisionForJuju } from '#records/revisions.ts';
import { baseOf, basesFor, isOpen, listedByBase } from './bases.ts';
import { isBundle } from './served-charm.ts';

/** What is wanted of a charm. */
export interface Wish {
  /** Nothing where juju deploys without saying. */
  channel: string | undefined;
  revision: number | undefined;
  base: CharmBase | undefined;
  /** The revision that it runs. */
  has: number | undefined;
  /** Whether it is deployed, so that the publisher's default track counts. */
  isNew: boolean;
}

export interface Chosen {
  revision: RevisionForJuju;
  /** Where it was found; nothing for a revision by its number. */
  release?: Release;
  effective?: string;
}

/** Why there is none, in the words that juju knows. */
export interface NoneToGive {
  code: 'revision-not-found' | 'revision-not-ready' | 'invalid-channel' | 'missing-charm-base' | 'invalid-charm-base';
  message: string;
  extra?: { releases?: { base: CharmBase; channel: string }[]; 'default-bases'?: CharmBase[] };
}

/** Chooses for one charm that juju may have; `map` is what its channels hold. */
export async function chooseCharm(
  charm: PublishedPackage,
  wish: Wish,
  map: readonly Release[],
  { revisions, now }: { revisions: HandlerRecords['revisions']; now: Date },
): Promise<Chosen | NoneToGive> {
  if (wish.revision !== undefined) {
    // What was once released may be asked for again by whoever runs it; what never was is told to nobody.
    const found = await revisions.forJuju(charm.id, wish.revision);
    return found?.status === 'released' ? ready(charm, { revision: found }) : nothing(charm, map);
  }
  const asked = parseChannel(wish.channel ?? 'stable');
  if (asked === undefined) return { code: 'invalid-channel', message: `'${wish.channel ?? ''}' is not a channel.` };
  const place = placeOf(charm, wish.base);
  if ('code' in place) return place;
  for (const channel of channelsOf(charm, wish, asked)) {
    const choice = choose(map, { channel, ...place, has: wish.has, now: timestamp(now) });
    if (choice === undefined) continue;
    if (place.base === undefined && !isBundle(charm)) return whichBase(charm, choice.channel, place.architecture, map);
    const revision = await revisions.forJuju(charm.id, choice.held.revision);
    if (revision !== undefined) return ready(charm, { revision, release: choice.held, effective: choice.channel.name });
  }
  return nothing(charm, map);
}

interface Place {
  architecture: string;
  /** Nothing where juju wants to hear which there are, and for bundles, which have none. */
  base: { name: string; channel: string } | undefined;
}

function placeOf(charm: PublishedPackage, base: CharmBase | undefined): Place | NoneToGive {
  if (isBundle(charm)) return { architecture: base?.architecture ?? 'all', base: undefined };
  if (base === undefined) {
    return { code: 'missing-charm-base', message: `Say for which base '${charm.name}' is wanted.` };
  }
  const { architecture = '', name = '', channel = '' } = base;
  return {
    architecture: architecture === '' ? 'amd64' : architecture,
    base: isOpen(base) ? undefined : { name, channel },
  };
}

/** Where to look: first in the default track, where none is named by whoever deploys. */
function channelsOf({ defaultTrack: track }: PublishedPackage, { channel, isNew }: Wish, asked: Channel): Channel[] {
  if (!isNew || track === null || track === 'latest' || channel?.split('/')[0] === asked.track) return [asked];
  return [channelOf(track, asked.risk, asked.branch), asked];
}

/** juju asks again with the first of these. */
function whichBase(
  charm: PublishedPackage,
  { name }: Channel,
  architecture: string,
  map: readonly Release[],
): NoneToGive {
  const bases = basesFor(
    map.filter((release) => release.channel === name),
    architecture,
  );
  return {
    code: 'invalid-charm-base',
    message: `Say for which of its bases '${charm.name}' is wanted.`,
    extra: { 'default-bases': bases },
  };
}

/** Branches are told to nobody who does not know them, nor what is on its way to a part of those who ask. */
function nothing({ name, defaultTrack }: PublishedPackage, map: readonly Release[]): NoneToGive {
  return {
    code: 'revision-not-found',
    message: `There is no revision of '${name}' as it was asked for.`,
    extra: {
      releases: listedByBase(map, defaultTrack).map(({ held, channel }) => ({
        base: baseOf(held),
        channel: channel.name,
      })),
    },
  };
}

/** A charm that was here before juju was answered is read for it soon after the start. */
const ready = ({ name }: PublishedPackage, chosen: Chosen): Chosen | NoneToGive =>
  chosen.revision.sha384 !== ''
    ? chosen
    : {
        code: 'revision-not-ready',
        message: `Revision ${chosen.revision.revision} of '${name}' has not been read yet; try again in a minute.`,
      };

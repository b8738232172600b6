// Chooses the revision of a charm that juju gets: by revision number, or from a channel for a base.
import type { HandlerRecords } from '#http/handler-records.ts';
import type { CharmBase } from '#contract/wire.ts';
import { chooseRelease } from '#domain/releases/channel-map.ts';
import { channel as channelOf, parseChannel, type Channel } from '#domain/releases/channel.ts';
import { timestamp } from '#domain/clock.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import type { RevisionForJuju } from '#records/revisions/revisions.ts';
import { baseOf, listBasesFor, asksForBases, listByBase } from './bases.ts';
import { isBundle } from './served-charm.ts';

/** What juju requests for one charm. */
export interface CharmRevisionRequest {
  /** Undefined if juju deploys without naming a channel. */
  channel: string | undefined;
  revision: number | undefined;
  base: CharmBase | undefined;
  /** The revision that is deployed. */
  has: number | undefined;
  /** Whether this is a new deployment, so the publisher's default track can apply. */
  isNew: boolean;
}

export interface ChosenCharmRevision {
  revision: RevisionForJuju;
  /** The release that holds the revision; undefined for a revision by number. */
  release?: Release;
  effective?: string;
}

/** Why no revision is available, with error codes that juju knows. */
export interface CharmUnavailableError {
  code: 'revision-not-found' | 'revision-not-ready' | 'invalid-channel' | 'missing-charm-base' | 'invalid-charm-base';
  message: string;
  extra?: { releases?: { base: CharmBase; channel: string }[]; 'default-bases'?: CharmBase[] };
}

/** Chooses the revision of one charm that juju may read; `map` is the charm's channel map. */
export async function chooseCharm(
  charm: PublishedPackage,
  request: CharmRevisionRequest,
  map: readonly Release[],
  { revisions, now }: { revisions: HandlerRecords['revisions']; now: Date },
): Promise<ChosenCharmRevision | CharmUnavailableError> {
  if (request.revision !== undefined) {
    // A revision by number must have been released at some time; others stay hidden.
    const candidate = await revisions.forJuju(charm.id, request.revision);
    return candidate?.status === 'released' ? ready(charm, { revision: candidate }) : nothing(charm, map);
  }
  const requested = parseChannel(request.channel ?? 'stable');
  if (requested === undefined)
    return { code: 'invalid-channel', message: `'${request.channel ?? ''}' is not a channel.` };
  const place = placeOf(charm, request.base);
  if ('code' in place) return place;
  for (const channel of channelsOf(charm, request, requested)) {
    const choice = chooseRelease(map, { channel, ...place, has: request.has, now: timestamp(now) });
    if (choice === undefined) continue;
    if (place.base === undefined && !isBundle(charm)) return whichBase(charm, choice.channel, place.architecture, map);
    const revision = await revisions.forJuju(charm.id, choice.held.revision);
    if (revision !== undefined) return ready(charm, { revision, release: choice.held, effective: choice.channel.name });
  }
  return nothing(charm, map);
}

interface CharmTarget {
  architecture: string;
  /** Undefined if juju asks for the list of bases, and for bundles, which have none. */
  base: { name: string; channel: string } | undefined;
}

function placeOf(charm: PublishedPackage, base: CharmBase | undefined): CharmTarget | CharmUnavailableError {
  if (isBundle(charm)) return { architecture: base?.architecture ?? 'all', base: undefined };
  if (base === undefined) {
    return { code: 'missing-charm-base', message: `Name the base for '${charm.name}' is wanted.` };
  }
  const { architecture = '', name = '', channel = '' } = base;
  return {
    architecture: architecture === '' ? 'amd64' : architecture,
    base: asksForBases(base) ? undefined : { name, channel },
  };
}

/** The channels to search: the default track first, if a new deployment names no track. */
function channelsOf(
  { defaultTrack: track }: PublishedPackage,
  { channel, isNew }: CharmRevisionRequest,
  requested: Channel,
): Channel[] {
  if (!isNew || track === null || track === 'latest' || channel?.split('/')[0] === requested.track) return [requested];
  return [channelOf(track, requested.risk, requested.branch), requested];
}

/** The error that lists the bases; juju retries with the first. */
function whichBase(
  charm: PublishedPackage,
  { name }: Channel,
  architecture: string,
  map: readonly Release[],
): CharmUnavailableError {
  const bases = listBasesFor(
    map.filter((release) => release.channel === name),
    architecture,
  );
  return {
    code: 'invalid-charm-base',
    message: `Name one of the bases of '${charm.name}' is wanted.`,
    extra: { 'default-bases': bases },
  };
}

/** The error for a missing revision. It lists neither branches nor progressive releases, which only some clients may know. */
function nothing({ name, defaultTrack }: PublishedPackage, map: readonly Release[]): CharmUnavailableError {
  return {
    code: 'revision-not-found',
    message: `There is no revision of '${name}' that matches the request.`,
    extra: {
      releases: listByBase(map, defaultTrack).map(({ held, channel }) => ({
        base: baseOf(held),
        channel: channel.name,
      })),
    },
  };
}

/** A charm from before the store served juju has no SHA-384 until a job reads it, soon after the start. */
const ready = ({ name }: PublishedPackage, chosen: ChosenCharmRevision): ChosenCharmRevision | CharmUnavailableError =>
  chosen.revision.sha384 !== ''
    ? chosen
    : {
        code: 'revision-not-ready',
        message: `Revision ${chosen.revision.revision} of '${name}' has not been inspected yet. Try again in a minute.`,
      };

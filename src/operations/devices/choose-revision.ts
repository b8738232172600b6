// Chooses the revision of a snap that a device gets: by revision number, or from a channel.
import { createDigest } from '#domain/cryptography.ts';
import type { IncomingHttpHeaders } from 'node:http';

import { applyFleets, type FleetRelease } from '#domain/fleets/fleet-view.ts';
import { publicReleases } from '#domain/packages/snap-catalog.ts';
import {
  chooseRelease,
  stepTowards,
  unexpired,
  type ReleaseQuery,
  type Choice,
  type SlotRelease,
} from '#domain/releases/channel-map.ts';
import { channel as channelOf, parseChannel, type Channel } from '#domain/releases/channel.ts';
import { timestamp } from '#domain/clock.ts';
import { canRead, type Epoch } from '#domain/revisions/epoch.ts';
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import type { Device } from '#access/device-access.ts';
import type { VisibleSnap } from '#access/device-snaps.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { RevisionForDevices } from '#records/revisions/revisions.ts';
import type { ChannelHistory } from './channel-history.ts';
import type { HeldForDevices } from './components.ts';
import { readAnnouncement } from './served-snap.ts';
import { visibleReleases, wasReleasedFor } from './visible-revisions.ts';

/** The properties of the calling device that apply to all snaps of a call. */
export interface DeviceRequestContext {
  /** In Debian's naming, such as amd64. */
  architecture: string;
  /** Distinguishes the device from all others; decides which progressive releases reach it. */
  identity: string;
  /** Whether the device follows a redirect to the publisher's default track. */
  knowsDefaultTracks: boolean;
  now: Date;
  /** `now` in the format of the records. */
  at: string;
}

/** Reads the device's properties from the headers and the device session. */
export function readDeviceContext(
  headers: IncomingHttpHeaders,
  device: Device | undefined,
  address: string,
  now: Date,
): DeviceRequestContext {
  const [architecture] = [headers['snap-device-architecture'] ?? headers['x-ubuntu-architecture'] ?? 'amd64'].flat();
  const [capabilities = ''] = [headers['snap-device-capabilities'] ?? ''].flat();
  return {
    architecture: architecture ?? 'amd64',
    identity: device === undefined ? address : [device.brand, device.model, device.serial].join('/'),
    knowsDefaultTracks: capabilities.split(/[ ,]+/).includes('default-tracks'),
    now,
    at: timestamp(now),
  };
}

/** What the device requests for one snap. */
export interface SnapRevisionRequest {
  /** Undefined if the device installs without naming a channel. */
  channel: string | undefined;
  revision: number | undefined;
  /** Whether the device tracks no channel of this snap yet, so the publisher's default track can apply. */
  isNew: boolean;
  /** The installed revision. `epoch` can also be set for a snap that is not installed yet: the data that the revision must read. */
  has: number | undefined;
  epoch: Epoch | undefined;
  /** The cohort of the key that the device shows. `madeAt` is undefined if the key is not valid for this snap or has expired. */
  cohort: { madeAt: Date | undefined } | undefined;
  /** Whether a validation set names exactly this revision. */
  isPinned(snap: PublishedPackage, revision: number): Promise<boolean>;
}

export interface ChosenSnapRevision {
  revision: RevisionForDevices;
  /** The components released together with the revision. Undefined for a revision by number or an intermediate revision. */
  resources?: HeldForDevices['resources'];
  /** The channel that holds the revision; undefined for a revision by number. */
  effective?: string;
  /** The channel that the device tracks from now on. */
  redirect?: string;
  /** Whether all devices of the architecture get this result for the channel, at any time, until records change. */
  forAll?: boolean;
}

/** Why no revision is available, with error codes that snapd knows. */
export interface SnapUnavailableError {
  code: 'revision-not-found' | 'invalid-channel' | 'invalid-cohort-key';
  message: string;
  /** The architectures and channels that hold a revision. */
  releases: { architecture: string; channel: string }[];
}

type SnapChoiceRecords = Pick<HandlerRecords, 'pastReleases' | 'releases' | 'revisions'> & { history: ChannelHistory };

/** Chooses the revision of one snap that the device may read. Returns synchronously if all records are cached. */
export const chooseRevision = (
  visibleSnap: VisibleSnap,
  request: SnapRevisionRequest,
  asker: DeviceRequestContext,
  records: SnapChoiceRecords,
): MaybePromise<ChosenSnapRevision | SnapUnavailableError> => {
  const { snap } = visibleSnap;
  return whenReady(records.releases.held(snap.id), (held): MaybePromise<ChosenSnapRevision | SnapUnavailableError> => {
    const inStore = unexpired(held, asker.at);
    const current = channelsFor(visibleSnap, inStore, asker);
    if (request.revision !== undefined)
      return byNumber(visibleSnap, request.revision, request, { map: [...inStore, ...current], asker, records });
    if (request.cohort === undefined) return byChannel(snap, request, { map: current, asker, records });
    const { madeAt } = request.cohort;
    if (madeAt === undefined) {
      const message = `The cohort key does not belong to '${snap.name}', or it has expired. Make a new one.`;
      return { ...nothing(snap, current), code: 'invalid-cohort-key', message };
    }
    return whenReady(records.history.heldAt(snap.id, madeAt), (past) =>
      byChannel(snap, request, { map: channelsFor(visibleSnap, past, asker), asker, records }),
    );
  });
};

/**
 * The channels of a snap as the caller has them: as the store has them, or as the fleets of the device change them. A caller that is limited
 * to some channels gets them from the store, because a followed channel could be another one.
 */
export const channelsFor = <Held extends SlotRelease>(
  { reach, view }: Pick<VisibleSnap, 'reach' | 'view'>,
  map: readonly Held[],
  { architecture }: Pick<DeviceRequestContext, 'architecture'>,
): readonly (Held | FleetRelease)[] =>
  reach.coversChannel === undefined ? applyFleets(map, view, architecture) : visibleReleases(map, reach);

function byChannel(
  snap: PublishedPackage,
  request: SnapRevisionRequest,
  at: SnapChoiceContext,
): MaybePromise<ChosenSnapRevision | SnapUnavailableError> {
  const requested = parseChannel(request.channel ?? 'stable');
  if (requested === undefined) {
    return {
      ...nothing(snap, at.map),
      code: 'invalid-channel',
      message: `'${request.channel ?? ''}' is not a channel.`,
    };
  }
  const moved = defaultTrack(snap, request, requested, at.asker);
  const asRequested = (): MaybePromise<ChosenSnapRevision | SnapUnavailableError> =>
    whenReady(inChannel(snap, requested, request, at), (chosen) => chosen ?? nothing(snap, at.map));
  if (moved === undefined) return asRequested();
  return whenReady(inChannel(snap, moved, request, at), (chosen) =>
    chosen === undefined ? asRequested() : { ...chosen, redirect: moved.name },
  );
}

interface SnapChoiceContext {
  map: readonly HeldForDevices[];
  asker: DeviceRequestContext;
  records: SnapChoiceRecords;
}

/**
 * Finds a revision by its number. The device gets it only if a channel holds it, if a validation set names it, or if the device
 * says that it is installed and the revision was released. A device can lie about the installed revision; these conditions keep it
 * from finding other revisions by guessing or counting. A caller who sees all revisions gets any.
 */
async function byNumber(
  { snap, reach, view }: VisibleSnap,
  number: number,
  { has, isPinned }: SnapRevisionRequest,
  { map, asker, records }: SnapChoiceContext,
): Promise<ChosenSnapRevision | SnapUnavailableError> {
  const candidate = await records.revisions.forDevices(snap.id, number);
  if (candidate === undefined) return nothing(snap, visibleReleases(map, reach));
  const isHidden = view?.hiddenBy !== undefined;
  const isVisible =
    (!isHidden &&
      (reach.unreleased ||
        visibleReleases(map, reach).some(({ revision }) => revision === number) ||
        (number === has && (await wasReleasedFor(reach, candidate, records))))) ||
    (reach.coversChannel === undefined && (await isPinned(snap, number)));
  const { architectures = ['all'] } = candidate.details;
  const fits = architectures.includes('all') || architectures.includes(asker.architecture);
  return isVisible && fits ? { revision: candidate } : nothing(snap, isHidden ? [] : visibleReleases(map, reach));
}

/** The channel on the publisher's default track, for a device that installs without naming a track. */
function defaultTrack(
  { defaultTrack: track }: PublishedPackage,
  { channel, isNew }: SnapRevisionRequest,
  requested: Channel,
  { knowsDefaultTracks }: DeviceRequestContext,
): Channel | undefined {
  if (!isNew || !knowsDefaultTracks || track === null || track === 'latest') return undefined;
  const namesTrack = channel !== undefined && channel.split('/')[0] === requested.track;
  return namesTrack ? undefined : channelOf(track, requested.risk, requested.branch);
}

function inChannel(
  snap: PublishedPackage,
  requested: Channel,
  request: SnapRevisionRequest,
  { map, asker, records }: SnapChoiceContext,
): MaybePromise<ChosenSnapRevision | undefined> {
  const { architecture, identity, at } = asker;
  const asking: ReleaseQuery = {
    channel: requested,
    architecture,
    share: (release) => shareOf(identity, snap.id, release),
    has: request.has,
    now: at,
  };
  const choice = chooseRelease(map, asking);
  if (choice === undefined) return undefined;
  const effective = choice.channel.name;
  return whenReady(
    records.revisions.forDevices(snap.id, choice.held.revision),
    (present): MaybePromise<ChosenSnapRevision | undefined> => {
      if (present === undefined) return undefined;
      if (request.epoch === undefined || canRead(readAnnouncement(present).epoch, request.epoch))
        return { revision: present, resources: choice.held.resources, effective, forAll: choice.forAll };
      const step = stepOnTheWay(snap, choice, present, { request, epoch: request.epoch, architecture, records });
      return whenReady(step, (revision) => revision && { revision, effective });
    },
  );
}

/** The newest revision that the channel ever held and that reads the data of the device. A fixed revision of a fleet has no steps. */
async function stepOnTheWay(
  snap: PublishedPackage,
  { channel, held }: Choice<HeldForDevices | FleetRelease>,
  present: RevisionForDevices,
  {
    request,
    epoch,
    architecture,
    records,
  }: { request: SnapRevisionRequest; epoch: Epoch; architecture: string; records: SnapChoiceRecords },
): Promise<RevisionForDevices | undefined> {
  const source = 'source' in held ? held.source : channel.name;
  if (source === null) return undefined;
  const slots = [architecture, 'all', '*'];
  const steps = await records.history.steps(snap.id, source, slots, request.cohort?.madeAt);
  return stepTowards({ ...present, epoch: readAnnouncement(present).epoch }, steps, { has: request.has ?? 0, epoch });
}

/** The position of a device for a progressive release, from 0 up to 100. It is stable per release and differs between releases. */
function shareOf(identity: string, packageId: string, { channel, slot, revision }: SlotRelease): number {
  const seed = [identity, packageId, channel, slot, String(revision)].join('\0');
  return (createDigest('cache').update(seed).digest().readUInt32BE() / 2 ** 32) * 100;
}

/** The error for a missing revision. It lists neither branches nor progressive releases, which only some devices may know. */
function nothing({ name }: PublishedPackage, map: readonly HeldForDevices[]): SnapUnavailableError {
  const visible = publicReleases(map).map(
    ({ architecture, channel }) =>
      [`${architecture} ${channel}`, { architecture: architecture ?? 'all', channel }] as const,
  );
  return {
    code: 'revision-not-found',
    message: `There is no revision of '${name}' that matches the request.`,
    releases: [...new Map(visible).values()],
  };
}

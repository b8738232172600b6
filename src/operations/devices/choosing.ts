// Chooses the revision of a snap that a device gets: by revision number, or from a channel.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { toldOf } from '#domain/catalog.ts';
import { choose, stepTowards, unexpired, type Asking, type Choice, type Holding } from '#domain/channel-map.ts';
import { channel as channelOf, parseChannel, type Channel } from '#domain/channel.ts';
import { timestamp } from '#domain/clock.ts';
import { canRead, type Epoch } from '#domain/epoch.ts';
import { then, type Soon } from '#domain/soon.ts';
import type { Device } from '#api/device-access.ts';
import type { HandlerRecords } from '#api/handler-records.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { RevisionForDevices } from '#records/revisions.ts';
import type { History } from './history.ts';
import type { HeldForDevices } from './components.ts';
import { announced } from './served-snap.ts';

/** The properties of the calling device that apply to all snaps of a call. */
export interface Asker {
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
export function askerOf(headers: IncomingHttpHeaders, device: Device | undefined, address: string, now: Date): Asker {
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
export interface Wish {
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

export interface Chosen {
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
export interface NoneToGive {
  code: 'revision-not-found' | 'invalid-channel' | 'invalid-cohort-key';
  message: string;
  /** The architectures and channels that hold a revision. */
  releases: { architecture: string; channel: string }[];
}

type Reads = Pick<HandlerRecords, 'releases' | 'revisions'> & { history: History };

/** Chooses the revision of one snap that the device may read. Returns synchronously if all records are cached. */
export const chooseRevision = (
  snap: PublishedPackage,
  wish: Wish,
  asker: Asker,
  records: Reads,
): Soon<Chosen | NoneToGive> =>
  then(records.releases.held(snap.id), (held): Soon<Chosen | NoneToGive> => {
    const current = unexpired(held, asker.at);
    if (wish.revision !== undefined) return byNumber(snap, wish.revision, wish, { map: current, asker, records });
    if (wish.cohort === undefined) return byChannel(snap, wish, { map: current, asker, records });
    const { madeAt } = wish.cohort;
    if (madeAt === undefined) {
      const message = `The cohort key is none of '${snap.name}', or it has ended; make a new one.`;
      return { ...nothing(snap, current), code: 'invalid-cohort-key', message };
    }
    return then(records.history.heldAt(snap.id, madeAt), (map) => byChannel(snap, wish, { map, asker, records }));
  });

function byChannel(snap: PublishedPackage, wish: Wish, at: At): Soon<Chosen | NoneToGive> {
  const asked = parseChannel(wish.channel ?? 'stable');
  if (asked === undefined) {
    return { ...nothing(snap, at.map), code: 'invalid-channel', message: `'${wish.channel ?? ''}' is not a channel.` };
  }
  const moved = defaultTrack(snap, wish, asked, at.asker);
  const asWished = (): Soon<Chosen | NoneToGive> =>
    then(inChannel(snap, asked, wish, at), (found) => found ?? nothing(snap, at.map));
  if (moved === undefined) return asWished();
  return then(inChannel(snap, moved, wish, at), (found) =>
    found === undefined ? asWished() : { ...found, redirect: moved.name },
  );
}

interface At {
  map: readonly HeldForDevices[];
  asker: Asker;
  records: Reads;
}

/**
 * Finds a revision by its number. The device gets it only if a channel holds it, if a validation set names it, or if the device
 * says that it is installed and the revision was released. A device can lie about the installed revision; these conditions keep it
 * from finding other revisions by guessing or counting.
 */
async function byNumber(
  snap: PublishedPackage,
  number: number,
  { has, isPinned }: Wish,
  { map, asker, records }: At,
): Promise<Chosen | NoneToGive> {
  const found = await records.revisions.forDevices(snap.id, number);
  const isTold =
    map.some(({ revision }) => revision === number) ||
    (number === has && found?.status === 'released') ||
    (await isPinned(snap, number));
  const { architectures = ['all'] } = found?.details ?? {};
  const fits = architectures.includes('all') || architectures.includes(asker.architecture);
  return found !== undefined && isTold && fits ? { revision: found } : nothing(snap, map);
}

/** The channel on the publisher's default track, for a device that installs without naming a track. */
function defaultTrack(
  { defaultTrack: track }: PublishedPackage,
  { channel, isNew }: Wish,
  asked: Channel,
  { knowsDefaultTracks }: Asker,
): Channel | undefined {
  if (!isNew || !knowsDefaultTracks || track === null || track === 'latest') return undefined;
  const namesTrack = channel !== undefined && channel.split('/')[0] === asked.track;
  return namesTrack ? undefined : channelOf(track, asked.risk, asked.branch);
}

function inChannel(
  snap: PublishedPackage,
  asked: Channel,
  wish: Wish,
  { map, asker, records }: At,
): Soon<Chosen | undefined> {
  const { architecture, identity, at } = asker;
  const asking: Asking = {
    channel: asked,
    architecture,
    share: (release) => shareOf(identity, snap.id, release),
    has: wish.has,
    now: at,
  };
  const choice = choose(map, asking);
  if (choice === undefined) return undefined;
  const effective = choice.channel.name;
  return then(records.revisions.forDevices(snap.id, choice.held.revision), (present): Soon<Chosen | undefined> => {
    if (present === undefined) return undefined;
    if (wish.epoch === undefined || canRead(announced(present).epoch, wish.epoch))
      return { revision: present, resources: choice.held.resources, effective, forAll: choice.forAll };
    const step = stepOnTheWay(snap, choice, present, { wish, epoch: wish.epoch, architecture, records });
    return then(step, (revision) => revision && { revision, effective });
  });
}

/** The newest revision that the channel ever held and that reads the data of the device. */
async function stepOnTheWay(
  snap: PublishedPackage,
  { channel }: Choice<HeldForDevices>,
  present: RevisionForDevices,
  { wish, epoch, architecture, records }: { wish: Wish; epoch: Epoch; architecture: string; records: Reads },
): Promise<RevisionForDevices | undefined> {
  const slots = [architecture, 'all', '*'];
  const steps = await records.history.steps(snap.id, channel.name, slots, wish.cohort?.madeAt);
  return stepTowards({ ...present, epoch: announced(present).epoch }, steps, { has: wish.has ?? 0, epoch });
}

/** The position of a device for a progressive release, from 0 up to 100. It is stable per release and differs between releases. */
function shareOf(identity: string, packageId: string, { channel, slot, revision }: Holding): number {
  const said = [identity, packageId, channel, slot, String(revision)].join('\0');
  return (createHash('sha256').update(said).digest().readUInt32BE() / 2 ** 32) * 100;
}

/** The error for a missing revision. It lists neither branches nor progressive releases, which only some devices may know. */
function nothing({ name }: PublishedPackage, map: readonly HeldForDevices[]): NoneToGive {
  const told = toldOf(map).map(
    ({ architecture, channel }) =>
      [`${architecture} ${channel}`, { architecture: architecture ?? 'all', channel }] as const,
  );
  return {
    code: 'revision-not-found',
    message: `There is no revision of '${name}' as it was asked for.`,
    releases: [...new Map(told).values()],
  };
}

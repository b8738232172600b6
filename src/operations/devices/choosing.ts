// Which revision of a snap a device gets: by its number, or out of a channel.
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

/** Who asks: what decides about all the snaps of a call. */
export interface Asker {
  /** Debian's word for it. */
  architecture: string;
  /** By which it is told from all other devices, for releases that reach a part of them. */
  identity: string;
  /** Whether it tracks what it is redirected to. */
  knowsDefaultTracks: boolean;
  now: Date;
  /** The same moment as the records write it. */
  at: string;
}

/** Who asks, as its headers and its session say. */
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

/** What is wanted of a snap. */
export interface Wish {
  /** Nothing where the device installs without saying. */
  channel: string | undefined;
  revision: number | undefined;
  /** Whether it has no channel of its own yet, so that the publisher's default track may become it. */
  isNew: boolean;
  /** What it has; the epoch is also said of what a snap that is not there yet has to read. */
  has: number | undefined;
  epoch: Epoch | undefined;
  /** The cohort whose key it shows; it was made at no time where the key is none for this snap, or has ended. */
  cohort: { madeAt: Date | undefined } | undefined;
  /** Whether a validation set names this very revision. */
  isPinned(snap: PublishedPackage, revision: number): Promise<boolean>;
}

export interface Chosen {
  revision: RevisionForDevices;
  /** What the release that it was found in gives beside it; nothing for a revision by its number, or on the way to another. */
  resources?: HeldForDevices['resources'];
  /** Where it was found; nothing for a revision by its number. */
  effective?: string;
  /** What the device tracks from now on. */
  redirect?: string;
  /** Whether every device of the architecture that asks for the channel is given it until records change, at any time. */
  forAll?: boolean;
}

/** Why there is none, in the words that snapd knows. */
export interface NoneToGive {
  code: 'revision-not-found' | 'invalid-channel' | 'invalid-cohort-key';
  message: string;
  /** What there is instead. */
  releases: { architecture: string; channel: string }[];
}

type Reads = Pick<HandlerRecords, 'releases' | 'revisions'> & { history: History };

/** Chooses for one snap that the device may have; at once where all that decides is remembered. */
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
 * What some channel holds, a validation set names, or the device has since it was in a channel: what a device says to have
 * may be a lie, and nobody finds out by it, or by counting, what else there is.
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

/** The channel of the publisher's default track, for a device that installs without naming a track. */
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

/** The newest that was ever in the channel and reads the data that the device has. */
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

/** Where a device stands for a release, from 0 up to 100: always at the same place, and elsewhere for another release. */
function shareOf(identity: string, packageId: string, { channel, slot, revision }: Holding): number {
  const said = [identity, packageId, channel, slot, String(revision)].join('\0');
  return (createHash('sha256').update(said).digest().readUInt32BE() / 2 ** 32) * 100;
}

/** Branches are told to nobody who does not know them, nor what is on its way to a part of the devices. */
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

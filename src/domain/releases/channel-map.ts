// The channel map of a package: the slots that a release fills, and the revision that a request for a channel gets.
import { fallback, parseChannel, type Channel } from './channel.ts';
import { canRead, type Epoch } from '../revisions/epoch.ts';
import type { PackageNamespace } from '../packages/namespace.ts';

/**
 * The part of a channel that holds one revision: an architecture, a base with an architecture, or `*` for the whole
 * channel.
 */
export interface ChannelSlot {
  slot: string;
  architecture: string | null;
  baseName: string | null;
  baseChannel: string | null;
}

/** The reach of a release: a percentage of the devices, or all devices if null. */
export interface ReleaseReach {
  paused: boolean | null;
  percentage: number | null;
}

/** The content of one slot of a channel. A progressive release overlays the full release of the same slot. */
export interface SlotRelease extends ChannelSlot {
  /** The channel's full name. */
  channel: string;
  revision: number;
  progressive: ReleaseReach;
  /** RFC 3339; set for branches, which end then. */
  expiresAt: string | null;
}

export const everyDevice: ReleaseReach = { paused: null, percentage: null };

/** A release to 100 % of the devices, or without a percentage, is a full release. */
export function readProgress(progress: Partial<ReleaseReach> | undefined): ReleaseReach {
  const { percentage = null, paused = null } = progress ?? {};
  return percentage === null || percentage === 100 ? everyDevice : { paused: paused ?? false, percentage };
}

export const isProgressive = ({ percentage }: ReleaseReach): boolean => percentage !== null;

/** Whether a channel has a single slot and so no progressive releases. */
export const isWholeChannel = (namespace: PackageNamespace): boolean => namespace === 'bin' || namespace === 'rock';

const all = 'all';
const wholeChannel: ChannelSlot = { slot: '*', architecture: null, baseName: null, baseChannel: null };

/**
 * The slots that a revision fills: one for each architecture of a snap, one for each base of a charm, else the whole
 * channel.
 */
export function slotsOf(
  namespace: PackageNamespace,
  {
    architectures = [all],
    bases = [],
  }: { architectures?: string[]; bases?: { name: string; channel: string; architecture: string }[] },
): ChannelSlot[] {
  if (isWholeChannel(namespace)) return [wholeChannel];
  if (namespace === 'snap') {
    return architectures.map((architecture) => ({ ...wholeChannel, slot: architecture, architecture }));
  }
  if (bases.length === 0) return [wholeChannel];
  return bases.map(({ name, channel, architecture }) => ({
    slot: `${name}/${channel}/${architecture}`,
    architecture,
    baseName: name,
    baseChannel: channel,
  }));
}

/** The revisions of a snap that are the newest for at least one of their architectures, the oldest first. */
export function newestOfSlots<One extends { revision: number; architectures: string[] }>(
  revisions: readonly One[],
): One[] {
  const filled = new Set<string>();
  return [...revisions]
    .sort((a, b) => b.revision - a.revision)
    .filter(({ architectures }) => {
      const free = slotsOf('snap', { architectures }).filter(({ slot }) => !filled.has(slot));
      free.forEach(({ slot }) => filled.add(slot));
      return free.length > 0;
    })
    .reverse();
}

/** The properties of a request that the choice depends on. */
export interface ReleaseQuery {
  channel: Channel;
  /** Debian's name of the architecture. */
  architecture: string;
  /** The base, for charms only. */
  base?: { name: string; channel: string } | undefined;
  /** The position of the device among all devices, from 0 up to but not including 100; undefined if unknown. */
  share?: ((release: SlotRelease) => number) | undefined;
  /** The revision that the device has already. */
  has?: number | undefined;
  /** RFC 3339. */
  now: string;
}

export interface Choice<Held extends SlotRelease> {
  held: Held;
  /** The channel that holds it: the requested one or a safer one. */
  channel: Channel;
  /** Whether all requests for that channel, with the same architecture and base, get it while the map is unchanged. */
  forAll: boolean;
}

/**
 * Chooses the release for a request: from the requested channel, or, if that has none for it, from the next safer
 * channel. A branch falls back to its own risk. Returns undefined if none of these channels has one.
 */
export function chooseRelease<Held extends SlotRelease>(
  map: readonly Held[],
  asking: ReleaseQuery,
): Choice<Held> | undefined {
  let forAll = true;
  for (let channel: Channel | undefined = asking.channel; channel !== undefined; channel = saferThan(channel)) {
    const { name } = channel;
    const inChannel = map.filter((held) => held.channel === name && !hasExpired(held, asking.now));
    forAll &&= inChannel.every((held) => held.expiresAt === null && !isProgressive(held.progressive));
    for (const fits of [fitsExactly, fitsBroadly]) {
      const fitting = inChannel.filter((held) => fits(held, asking));
      const held =
        fitting.find((over) => reaches(over, asking)) ??
        fitting.find((candidate) => !isProgressive(candidate.progressive));
      if (held !== undefined) return { held, channel, forAll };
    }
  }
  return undefined;
}

function saferThan(channel: Channel): Channel | undefined {
  const name = fallback(channel);
  return name === null ? undefined : parseChannel(name);
}

/** The part of a channel map that has not expired. */
export const unexpired = <Held extends SlotRelease>(map: readonly Held[], now: string): readonly Held[] =>
  map.some((held) => hasExpired(held, now)) ? map.filter((held) => !hasExpired(held, now)) : map;

const hasExpired = ({ expiresAt }: SlotRelease, now: string): boolean => expiresAt !== null && expiresAt <= now;

/** Whether it was made for exactly the architecture and base of the request. */
const fitsExactly = (held: SlotRelease, { architecture, base }: ReleaseQuery): boolean =>
  held.architecture === architecture &&
  (base === undefined || (held.baseName === base.name && held.baseChannel === base.channel));

/** Whether it fits the request less specifically: made for all architectures or bases, or for the whole channel. */
const fitsBroadly = (held: SlotRelease, { architecture, base }: ReleaseQuery): boolean =>
  (held.architecture === null || held.architecture === all || held.architecture === architecture) &&
  (base === undefined ||
    held.baseName === null ||
    ((held.baseName === all || held.baseName === base.name) &&
      (held.baseChannel === all || held.baseChannel === base.channel)));

/** Whether a progressive release reaches the device. A device that has it already keeps it, even while it is paused. */
function reaches(held: SlotRelease, { share, has }: ReleaseQuery): boolean {
  const { percentage, paused } = held.progressive;
  if (percentage === null) return false;
  if (has === held.revision) return true;
  return paused !== true && share !== undefined && share(held) < percentage;
}

/**
 * The intermediate revision for a device that cannot go directly to a revision because of its epoch: the newest of the
 * revisions once released there (`past`) that can read the device's data. The device never gets an older revision than
 * it has.
 */
export function stepTowards<Past extends { revision: number; epoch: Epoch }>(
  chosen: Past,
  past: readonly Past[],
  device: { has: number; epoch: Epoch },
): Past | undefined {
  if (canRead(chosen.epoch, device.epoch)) return chosen;
  return past
    .filter(({ revision, epoch }) => revision >= device.has && canRead(epoch, device.epoch))
    .reduce<Past | undefined>(
      (best, candidate) => (best === undefined || candidate.revision > best.revision ? candidate : best),
      undefined,
    );
}

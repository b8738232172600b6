// The channel map of a package: what a release fills, and what somebody gets who asks for a channel.
import { fallback, parseChannel, type Channel } from './channel.ts';
import { canRead, type Epoch } from './epoch.ts';
import type { Namespace } from './namespace.ts';

/** A part of a channel that holds one revision: an architecture, a base with its architecture, or `*`, the whole channel. */
export interface Slot {
  slot: string;
  architecture: string | null;
  baseName: string | null;
  baseChannel: string | null;
}

/** How far a release reaches: a percentage of the devices, or everybody where it is null. */
export interface Progress {
  paused: boolean | null;
  percentage: number | null;
}

/** What one slot of a channel holds; a progressive release lies over the ordinary one of the same slot. */
export interface Holding extends Slot {
  /** The channel's full name. */
  channel: string;
  revision: number;
  progressive: Progress;
  /** RFC 3339; a branch ends then. */
  expiresAt: string | null;
}

export const everybody: Progress = { paused: null, percentage: null };

/** A release to all devices is an ordinary one, and so is one that says nothing of its progress. */
export function progressOf(said: Partial<Progress> | undefined): Progress {
  const { percentage = null, paused = null } = said ?? {};
  return percentage === null || percentage === 100 ? everybody : { paused: paused ?? false, percentage };
}

export const isProgressive = ({ percentage }: Progress): boolean => percentage !== null;

/** Whether a channel holds one revision for everybody, so that nothing can be released to a part of the devices. */
export const isWholeChannel = (namespace: Namespace): boolean => namespace === 'bin' || namespace === 'rock';

const all = 'all';
const wholeChannel: Slot = { slot: '*', architecture: null, baseName: null, baseChannel: null };

/** What a revision fills of a channel: a slot for each architecture of a snap, for each base of a charm, else all of it. */
export function slotsOf(
  namespace: Namespace,
  {
    architectures = [all],
    bases = [],
  }: { architectures?: string[]; bases?: { name: string; channel: string; architecture: string }[] },
): Slot[] {
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

/** Of some revisions of a snap those that are the newest for one of their architectures, the oldest of them first. */
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

/** Who asks, as far as the choice depends on it. */
export interface Asking {
  channel: Channel;
  /** Debian's word for it. */
  architecture: string;
  /** A charm's base; nobody asks for one in other namespaces. */
  base?: { name: string; channel: string } | undefined;
  /** Where the asker stands among all devices, from 0 up to but not including 100; nothing when that is not known. */
  share?: ((release: Holding) => number) | undefined;
  /** The revision that the asker has already. */
  has?: number | undefined;
  /** RFC 3339. */
  now: string;
}

export interface Choice<Held extends Holding> {
  held: Held;
  /** Where it was found: the channel that was asked for, or a safer one. */
  channel: Channel;
  /** Whether everybody of the architecture and base gets it who asks for that channel, as long as the map is the same. */
  forAll: boolean;
}

/**
 * What a request for a channel gets: what the channel holds for the asker; where it holds nothing, what its next safer
 * channel holds, a branch's being its own risk. Nothing when no channel of them has anything.
 */
export function choose<Held extends Holding>(map: readonly Held[], asking: Asking): Choice<Held> | undefined {
  let forAll = true;
  for (let channel: Channel | undefined = asking.channel; channel !== undefined; channel = saferThan(channel)) {
    const { name } = channel;
    const here = map.filter((held) => held.channel === name && !hasExpired(held, asking.now));
    forAll &&= here.every((held) => held.expiresAt === null && !isProgressive(held.progressive));
    for (const fits of [exactly, broadly]) {
      const fitting = here.filter((held) => fits(held, asking));
      const held =
        fitting.find((over) => reaches(over, asking)) ?? fitting.find((one) => !isProgressive(one.progressive));
      if (held !== undefined) return { held, channel, forAll };
    }
  }
  return undefined;
}

function saferThan(channel: Channel): Channel | undefined {
  const name = fallback(channel);
  return name === null ? undefined : parseChannel(name);
}

/** What of a channel map has not expired. */
export const unexpired = <Held extends Holding>(map: readonly Held[], now: string): readonly Held[] =>
  map.some((held) => hasExpired(held, now)) ? map.filter((held) => !hasExpired(held, now)) : map;

const hasExpired = ({ expiresAt }: Holding, now: string): boolean => expiresAt !== null && expiresAt <= now;

/** Whether it was made for the very architecture and base of whoever asks. */
const exactly = (held: Holding, { architecture, base }: Asking): boolean =>
  held.architecture === architecture &&
  (base === undefined || (held.baseName === base.name && held.baseChannel === base.channel));

/** Whether it serves him as well: made for all architectures or bases, or for the whole channel. */
const broadly = (held: Holding, { architecture, base }: Asking): boolean =>
  (held.architecture === null || held.architecture === all || held.architecture === architecture) &&
  (base === undefined ||
    held.baseName === null ||
    ((held.baseName === all || held.baseName === base.name) &&
      (held.baseChannel === all || held.baseChannel === base.channel)));

/** Whether a progressive release has come as far as the asker; who has it already keeps it, also while it is paused. */
function reaches(held: Holding, { share, has }: Asking): boolean {
  const { percentage, paused } = held.progressive;
  if (percentage === null) return false;
  if (has === held.revision) return true;
  return paused !== true && share !== undefined && share(held) < percentage;
}

/**
 * The step that a device takes towards a revision whose epoch it cannot read yet: the newest of those that were ever
 * released there (`past`) and understand the data that it has. What it has is never left for something older.
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
      (best, one) => (best === undefined || one.revision > best.revision ? one : best),
      undefined,
    );
}

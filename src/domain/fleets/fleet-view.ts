// The view of a device: what its fleets change about the channels of the store.
import { parseChannel, fallback, type Channel } from '../releases/channel.ts';
import { everyDevice, type SlotRelease } from '../releases/channel-map.ts';
import { releaseText } from '../releases/release-text.ts';
import type { FleetKind } from './fleet.ts';
import { parseRefreshWindow, type RefreshWindow } from './refresh-window.ts';

interface FleetResource {
  name: string;
  revision: number | null;
  type: string;
}

/** The setting of one slot of a channel for the devices of a fleet. */
export interface FleetSetting {
  fleet: string;
  packageId: string;
  /** The channel's full name. */
  channel: string;
  /** An architecture, `all`, or `*` for a channel that follows another one. */
  slot: string;
  mode: 'pin' | 'hold' | 'follow';
  /** Null for `follow`. */
  revision: number | null;
  /** The full name of the followed channel; null for the other modes. */
  follows: string | null;
  /** The components that the revision was released with when it was set. */
  resources: FleetResource[];
  /** Whether the revision was withdrawn since: the slot then gives nothing, also after the revision is restored. */
  withdrawn: boolean;
  setAt: string;
  setBy: string;
}

/** A fleet of a device, with its settings. */
export interface FleetOfDevice {
  name: string;
  kind: FleetKind;
  refreshWindow: string | null;
  settings: readonly FleetSetting[];
  /** The ids of hidden snaps. */
  hidden: readonly string[];
}

/** What the fleets of a device change about one snap. */
export interface SnapFleetView {
  /** The name of the fleet that hides it. */
  hiddenBy: string | undefined;
  /** The settings of the device's fleets by channel, the most specific first. */
  channels: ReadonlyMap<string, readonly FleetSetting[]>;
}

/** What the fleets of a device change. The same fleets have the same object until a fleet changes. */
export interface FleetView {
  /** The most specific first. */
  fleets: readonly Pick<FleetOfDevice, 'name' | 'kind'>[];
  /** By package id. A snap without an entry is as in the store. */
  snaps: ReadonlyMap<string, SnapFleetView>;
  window: { fleet: string; window: RefreshWindow } | undefined;
}

/** Merges the fleets of a device, the most specific first. */
export function buildFleetView(fleets: readonly FleetOfDevice[]): FleetView {
  const snaps = new Map<string, { hiddenBy: string | undefined; channels: Map<string, FleetSetting[]> }>();
  for (const { name, settings, hidden } of fleets) {
    const before = new Set(snaps.keys());
    for (const setting of settings) {
      const snap = snaps.get(setting.packageId) ?? { hiddenBy: undefined, channels: new Map<string, FleetSetting[]>() };
      snaps.set(setting.packageId, snap);
      snap.channels.set(setting.channel, [...(snap.channels.get(setting.channel) ?? []), setting]);
    }
    // A more specific fleet that sets a channel of the snap shows it.
    for (const id of hidden) if (!before.has(id)) snaps.set(id, { hiddenBy: name, channels: new Map() });
  }
  const windowed = fleets.find(({ refreshWindow }) => refreshWindow !== null);
  const window = parseRefreshWindow(windowed?.refreshWindow ?? '');
  return {
    fleets: fleets.map(({ name, kind }) => ({ name, kind })),
    snaps,
    window: windowed === undefined || 'problem' in window ? undefined : { fleet: windowed.name, window },
  };
}

/** A slot as a fleet gives it. */
export interface FleetRelease extends SlotRelease {
  packageId: string;
  resources: FleetResource[];
  releasedAt: string;
  setting: FleetSetting;
  /** The channel that the revisions come from, for devices that need an intermediate revision; null if there is none. */
  source: string | null;
}

/** The setting that decides about a channel for devices of an architecture; undefined if none does. */
export const settingFor = (
  { channels }: Pick<SnapFleetView, 'channels'>,
  channel: string,
  architecture: string,
): FleetSetting | undefined => {
  const settings = channels.get(channel) ?? [];
  const [first] = settings.filter(({ slot }) => fits(slot, architecture));
  // Of one fleet, the slot of exactly this architecture comes before the slot of all.
  return settings.find(({ fleet, slot }) => fleet === first?.fleet && slot === architecture) ?? first;
};

const fits = (slot: string | null, architecture: string): boolean =>
  slot === null || slot === 'all' || slot === '*' || slot === architecture;

/** The channel map of a snap as the fleets of a device give it to an architecture. */
export function applyFleets<Held extends SlotRelease>(
  map: readonly Held[],
  view: SnapFleetView | undefined,
  architecture: string,
): readonly (Held | FleetRelease)[] {
  if (view === undefined || view.channels.size === 0) return map;
  const changed = new Map<string, (Held | FleetRelease)[]>();
  for (const name of view.channels.keys()) {
    const setting = settingFor(view, name, architecture);
    if (setting !== undefined) changed.set(name, slotsGivenBy(setting, map, architecture));
  }
  return [...map.filter(({ channel }) => !changed.has(channel)), ...[...changed.values()].flat()];
}

function slotsGivenBy<Held extends SlotRelease>(
  setting: FleetSetting,
  map: readonly Held[],
  architecture: string,
): (Held | FleetRelease)[] {
  const { packageId, channel, slot, revision, follows, resources, withdrawn, setAt: releasedAt } = setting;
  if (follows === null) {
    const slotFields = {
      channel,
      slot,
      architecture: slot,
      baseName: null,
      baseChannel: null,
      progressive: everyDevice,
    };
    const rest = { packageId, resources, releasedAt, expiresAt: null, setting, source: null };
    return [{ ...slotFields, ...rest, revision: withdrawn || revision === null ? noRevision : revision }];
  }
  // The followed channel is read as the store has it, with its fallbacks, so fleets cannot make a circle.
  for (let from: Channel | undefined = parseChannel(follows); from !== undefined; from = saferThan(from)) {
    const { name: source } = from;
    const held = map.filter((release) => release.channel === source && fits(release.architecture, architecture));
    if (held.length > 0) return held.map((release) => ({ ...release, channel, setting, source }));
  }
  return [];
}

/** The number of no revision: a slot that gives nothing, and does not fall back to a safer channel either. */
export const noRevision = 0;

const saferThan = (channel: Channel): Channel | undefined => {
  const name = fallback(channel);
  return name === null ? undefined : parseChannel(name);
};

/** A setting in words: `pinned to 5 with tools 2`, `held at 5`, `follows latest/candidate`. */
export function settingText({
  mode,
  revision,
  follows,
  resources,
  withdrawn,
}: Omit<FleetSetting, SettingContext>): string {
  if (mode === 'follow') return `follows ${follows ?? ''}`;
  const release = { revision: revision ?? noRevision, resources, progressive: everyDevice, expiresAt: null };
  const gone = withdrawn ? ', which was withdrawn' : '';
  return `${mode === 'pin' ? 'pinned to' : 'held at'} ${releaseText(release)}${gone}`;
}

type SettingContext = 'fleet' | 'packageId' | 'channel' | 'slot' | 'setAt' | 'setBy';

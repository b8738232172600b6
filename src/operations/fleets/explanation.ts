// Explains which revisions of a snap a device gets, and which fleet decides that. It asks the same functions as a refresh.
import { everyRelease } from '#access/account-snaps.ts';
import { fleetViewOf, rightsOf, type Device } from '#access/device-access.ts';
import { parseAssertion } from '#assertions/format/assertion.ts';
import { series } from '#assertions/format/types.ts';
import { timestamp } from '#domain/clock.ts';
import { selectorProblem } from '#domain/fleets/fleet.ts';
import {
  settingFor,
  settingText,
  type FleetSetting,
  type FleetView,
  type SnapFleetView,
} from '#domain/fleets/fleet-view.ts';
import { isWindowOpen } from '#domain/fleets/refresh-window.ts';
import { unexpired } from '#domain/releases/channel-map.ts';
import { fallback, parseChannel, type Channel } from '#domain/releases/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import { toFleetSetting } from '#acts/fleets/fleet-text.ts';
import type { FleetExplanation, TransferFleet } from '#contract/wire.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { createChannelHistory } from '../devices/channel-history.ts';
import { chooseRevision, type DeviceRequestContext } from '../devices/choose-revision.ts';

interface FleetQuestion {
  device: Device;
  snap: PublishedPackage;
  /** The id of the store that the device names, or of this store. */
  storeId: string;
  /** The architecture of the device; by default that of its model. */
  architecture: string | undefined;
  /** All channels if undefined. */
  channel: Channel | undefined;
  now: Date;
}

type ExplanationRecords = HandlerRecords & { seenDevices: Pick<HandlerRecords['seenDevices'], 'find'> };

export async function explainFleets(records: ExplanationRecords, question: FleetQuestion): Promise<FleetExplanation> {
  const { device, snap, storeId, now } = question;
  const fleetView = await fleetViewOf(device, storeId, records);
  const architecture = question.architecture ?? (await architectureOf(device, records));
  const { brand, model, serial } = device;
  const asker = {
    architecture,
    identity: [brand, model, serial].join('/'),
    knowsDefaultTracks: true,
    now,
    at: timestamp(now),
  };
  const rights = await rightsOf({ device, principal: undefined }, records);
  const isHere = snap.namespace === 'snap' && rights.reaches(snap);
  const view = fleetView?.snaps.get(snap.id);
  return {
    device: [brand, model, serial].join('/'),
    package: `${snap.namespace}/${snap.name}`,
    architecture,
    fleets: (fleetView?.fleets ?? []).map(({ name, kind }) => ({ name, kind })),
    'hidden-by': view?.hiddenBy ?? null,
    window: presentWindow(fleetView, now),
    private: !isHere,
    channels:
      !isHere || view?.hiddenBy !== undefined ? [] : await explainChannels(records, { ...question, view, asker }),
  };
}

const presentWindow = (view: FleetView | undefined, now: Date): FleetExplanation['window'] =>
  view?.window === undefined
    ? null
    : { fleet: view.window.fleet, window: view.window.window.text, open: isWindowOpen(view.window.window, now) };

interface ChannelQuestion extends FleetQuestion {
  view: SnapFleetView | undefined;
  asker: DeviceRequestContext;
}

async function explainChannels(
  records: ExplanationRecords,
  { device: { brand, model, serial }, snap, channel, view, asker }: ChannelQuestion,
): Promise<FleetExplanation['channels']> {
  const held = unexpired(await records.releases.held(snap.id), asker.at);
  const names =
    channel === undefined
      ? [...held.map((release) => release.channel), ...(view?.channels.keys() ?? [])]
      : [channel.name];
  const seen = await records.seenDevices.find(brand, model, serial);
  const has = seen?.holds.find(({ packageId }) => packageId === snap.id)?.revision;
  const request = { revision: undefined, isNew: false, has, epoch: undefined, cohort: undefined };
  const from = { ...records, history: createChannelHistory(records) };
  const sources = await sourcesOf(records, view, snap.id);
  const explained: FleetExplanation['channels'] = [];
  for (const name of [...new Set(names)].sort()) {
    const visibleSnap = { snap, reach: everyRelease, view };
    const isPinned = (): Promise<boolean> => Promise.resolve(false);
    const chosen = await chooseRevision(visibleSnap, { ...request, channel: name, isPinned }, asker, from);
    const [revision, effective] = 'code' in chosen ? [null, undefined] : [chosen.revision.revision, chosen.effective];
    explained.push({
      channel: name,
      revision,
      ...reasonOf(view, { name, effective, architecture: asker.architecture, sources }),
    });
  }
  return explained;
}

/** The sites that settings of a snap came from by transfers, by fleet, channel, slot and text. An edited setting has another text. */
async function sourcesOf(
  { fleets }: Pick<HandlerRecords, 'fleets'>,
  view: SnapFleetView | undefined,
  snapId: string,
): Promise<Map<string, string>> {
  const sources = new Map<string, string>();
  for (const name of new Set([...(view?.channels.values() ?? [])].flat().map(({ fleet }) => fleet))) {
    const [site, text] = [(await fleets.find(name))?.source, await fleets.sourceText(name)];
    if (site === undefined || site === null || text === undefined) continue;
    for (const setting of (JSON.parse(text) as TransferFleet).channels) {
      if (setting.snap.id === snapId)
        sources.set(sourceKey(toFleetSetting(name, setting, { at: '', actor: '' })), site);
    }
  }
  return sources;
}

const sourceKey = (setting: FleetSetting): string =>
  `${setting.fleet} ${setting.channel} ${setting.slot} ${settingText({ ...setting, withdrawn: false })}`;

interface ReasonContext {
  /** A channel, and the channel that the device gets a revision from. */
  name: string;
  effective: string | undefined;
  architecture: string;
  sources: ReadonlyMap<string, string>;
}

/** The fleet that decides about a channel, and why, as the end of a sentence. */
function reasonOf(
  view: SnapFleetView | undefined,
  { name, effective, architecture, sources }: ReasonContext,
): Pick<FleetExplanation['channels'][number], 'fleet' | 'because'> {
  for (let at: string | null = name; at !== null; at = nextSafer(at)) {
    const setting = view && settingFor(view, at, architecture);
    const where = at === name ? '' : `falls back to ${at}: `;
    // A channel that follows an empty one is empty itself, and devices fall back.
    if (setting !== undefined && (effective === at || setting.mode !== 'follow')) {
      const state = setting.withdrawn ? '; it gives nothing until the fleet sets it again' : '';
      const site = sources.get(sourceKey(setting));
      const source = site === undefined ? '' : `, by the site ${site}`;
      return { fleet: setting.fleet, because: `${where}${settingText(setting)}${source}${state}` };
    }
    if (effective === at) return { fleet: null, because: `${where}as in the store` };
  }
  return { fleet: null, because: 'holds no revision for this device' };
}

const nextSafer = (name: string): string | null => {
  const channel = parseChannel(name);
  return channel === undefined ? null : fallback(channel);
};

/** The architecture of a model, if its assertion is here; else amd64, which devices without the header have too. */
async function architectureOf(
  { brand, model }: Device,
  { assertions }: Pick<HandlerRecords, 'assertions'>,
): Promise<string> {
  const [stored] = await assertions.listOf([`model/${series}/${brand}/${model}`]);
  const stated = stored && parseAssertion(stored.text).headers['architecture'];
  return typeof stated === 'string' ? stated : 'amd64';
}

/** Finds the device that a text names: `BRAND/MODEL/SERIAL`, or a serial alone if fleets or the serial log of this store know it. */
export async function findDevice(text: string, { fleets }: Pick<HandlerRecords, 'fleets'>): Promise<Device> {
  const names = text.includes('/') ? [text] : await fleets.devicesWithSerial(text);
  const [name, other] = names;
  if (name === undefined) {
    throw new Refusal(
      'resource-not-found',
      `No fleet and no issued serial names '${text.slice(0, 80)}'. Name the device as BRAND/MODEL/SERIAL.`,
    );
  }
  if (other !== undefined) {
    throw new Refusal('conflict', `The serial '${text}' belongs to ${names.join(', ')}. Name one of them in full.`);
  }
  const problem = selectorProblem('serial', name);
  if (problem !== undefined) throw new Refusal('api-error', problem);
  const [brand = '', model = '', serial = ''] = name.split('/');
  return { brand, model, serial };
}

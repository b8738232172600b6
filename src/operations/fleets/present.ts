// Converts fleets and devices from and to their wire form.
import { requireFleet } from '#acts/fleets/fleets.ts';
import type { FleetChannelMode } from '#acts/fleets/fleet-channels.ts';
import type { FleetChannelUpdate, FleetResponse, FleetSetting, FleetSummary, SeenDevice } from '#contract/wire.ts';
import { parseChannel, type Channel } from '#domain/releases/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import type { FleetSetting as StoredSetting } from '#domain/fleets/fleet-view.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import type { Fleet } from '#records/fleets/fleets.ts';
import type { SeenDevice as SeenDeviceRecord } from '#records/fleets/seen-devices.ts';

export const presentSeenDevice = ({ brandId, model, serial, firstAt, lastAt }: SeenDeviceRecord): SeenDevice => ({
  'brand-id': brandId,
  model,
  serial,
  'first-contact': firstAt,
  'last-contact': lastAt,
});

export const presentFleet = ({ name, kind, refreshWindow, createdAt, createdBy, source }: Fleet): FleetSummary => ({
  name,
  kind,
  window: refreshWindow,
  'created-at': createdAt,
  'created-by': createdBy,
  source,
});

export const presentSetting = (
  { channel, slot, mode, revision, follows, withdrawn, setAt, setBy }: StoredSetting,
  packageText: string,
): FleetSetting => ({
  package: packageText,
  channel,
  architecture: slot === '*' ? null : slot,
  mode,
  revision,
  follows,
  withdrawn,
  'set-at': setAt,
  'set-by': setBy,
});

/** Reads a fleet with everything that it changes. Refuses with `resource-not-found` if there is none. */
export async function readFleetInFull(
  records: Pick<HandlerRecords, 'fleets' | 'inventory'>,
  name: string,
): Promise<FleetResponse> {
  const fleet = await requireFleet(records, name);
  const [settings, hidden] = [await records.fleets.settingsIn([name]), await records.fleets.hiddenIn([name])];
  const names = await records.inventory.names([...settings, ...hidden].map(({ packageId }) => packageId));
  const packageText = (id: string): string => `snap/${names.get(id)?.name ?? id}`;
  return {
    ...presentFleet(fleet),
    'device-count': await records.fleets.countSelectors(name),
    channels: settings
      .map((setting) => presentSetting(setting, packageText(setting.packageId)))
      .sort((a, b) => (`${a.package} ${a.channel}` < `${b.package} ${b.channel}` ? -1 : 1)),
    hidden: hidden.map(({ packageId }) => packageText(packageId)).sort(),
  };
}

export function readFleetChannel(text: string): Channel {
  const channel = parseChannel(text);
  if (channel !== undefined) return channel;
  throw new Refusal('api-error', `'${text}' is not a channel. Write risk, track/risk or track/risk/branch.`);
}

/** The meaning of the channel. Refuses members that belong to another mode. */
export function readChannelMode({ mode, revision, follows }: FleetChannelUpdate): FleetChannelMode {
  if ((mode === 'pin') !== (revision !== undefined))
    throw new Refusal('api-error', "The mode 'pin' needs a 'revision', and no other mode has one at /revision");
  if ((mode === 'follow') !== (follows !== undefined))
    throw new Refusal(
      'api-error',
      "The mode 'follow' needs a channel in 'follows', and no other mode has one at /follows",
    );
  if (revision !== undefined) return { mode: 'pin', revision };
  if (follows !== undefined) return { mode: 'follow', follows: readFleetChannel(follows) };
  return { mode: mode === 'hold' ? 'hold' : 'clear' };
}

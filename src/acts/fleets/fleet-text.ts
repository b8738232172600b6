// Fleets as texts in transfers: in one canonical form, so that equal fleets have equal texts on every site.
import type { TransferFleet, TransferFleetSetting } from '#contract/wire.ts';
import { selectorText } from '#domain/fleets/fleet.ts';
import type { FleetSetting } from '#domain/fleets/fleet-view.ts';
import type { Fleet } from '#records/fleets/fleets.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';

type FleetTextNouns = 'fleets' | 'packages' | 'resourceRevisions' | 'revisions';
type FleetTextRecords = Pick<StoreRecords, FleetTextNouns> | Pick<ChangeRecords, FleetTextNouns>;

/** Reads a fleet of this store with everything that it changes. Revisions and components are identified by their content too. */
export async function readFleetText(
  records: FleetTextRecords,
  { name, kind, refreshWindow }: Fleet,
): Promise<TransferFleet> {
  const { fleets, packages } = records;
  const snapOf = async (id: string) => ({ id, name: (await packages.byId(id))?.name ?? id });
  const channels: TransferFleetSetting[] = [];
  for (const setting of await fleets.settingsIn([name])) {
    channels.push({ snap: await snapOf(setting.packageId), ...(await toSettingText(records, setting)) });
  }
  const hidden = [];
  for (const { packageId } of await fleets.hiddenIn([name])) hidden.push(await snapOf(packageId));
  return {
    name,
    kind,
    ...(refreshWindow !== null && { window: refreshWindow }),
    devices: (await fleets.allSelectors(name)).map(selectorText),
    channels,
    hidden,
  };
}

async function toSettingText(
  { revisions, resourceRevisions }: FleetTextRecords,
  { packageId, channel, slot, mode, revision, follows, resources: components, withdrawn }: FleetSetting,
): Promise<Omit<TransferFleetSetting, 'snap'>> {
  const content = revision === null ? undefined : (await revisions.numbered(packageId, revision))?.sha3_384;
  const resources = [];
  for (const { name, type, revision: number } of components) {
    const stored = number === null ? undefined : await resourceRevisions.find(packageId, name, number);
    resources.push({ name, type, revision: number, ...(stored !== undefined && { 'sha3-384': stored.sha3_384 }) });
  }
  return {
    channel,
    slot,
    mode,
    ...(revision !== null && { revision }),
    ...(content !== undefined && { 'sha3-384': content }),
    ...(follows !== null && { follows }),
    ...(resources.length > 0 && { resources }),
    ...(withdrawn && { withdrawn }),
  };
}

/** Converts a setting of a text to one of this store. */
export const toFleetSetting = (
  fleet: string,
  { snap, channel, slot, mode, revision, follows, resources = [], withdrawn }: TransferFleetSetting,
  { at: setAt, actor: setBy }: { at: string; actor: string },
): FleetSetting => ({
  fleet,
  packageId: snap.id,
  channel,
  slot,
  mode,
  revision: revision ?? null,
  follows: follows ?? null,
  resources: resources.map(({ name, type, revision: number }) => ({ name, revision: number, type })),
  withdrawn: withdrawn === true,
  setAt,
  setBy,
});

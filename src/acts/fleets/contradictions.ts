// Contradictions: two fleets of one kind that select the same device and set the same thing differently.
import { selectorText } from '#domain/fleets/fleet.ts';
import { settingText, type FleetOfDevice, type FleetSetting } from '#domain/fleets/fleet-view.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';

type NameRecords = Pick<StoreRecords, 'packages'> | Pick<ChangeRecords, 'packages'>;

/** Refuses the state of a fleet after a change if another fleet contradicts it. Neither of two equally specific fleets could decide. */
export async function refuseContradictions(
  tx: Pick<ChangeRecords, 'fleets' | 'packages'>,
  name: string,
): Promise<void> {
  const overlapping = await tx.fleets.overlapping(name);
  if (overlapping.length === 0) return;
  const [mine, ...others] = await tx.fleets.withSettings([name, ...overlapping.map(({ fleet }) => fleet)]);
  for (const other of others) {
    const shared = overlapping.find(({ fleet }) => fleet === other.name)?.selector ?? '';
    const problem = mine && (await findContradiction(tx, mine, other, selectorText(shared)));
    if (problem !== undefined) throw new Refusal('conflict', problem);
  }
}

/** The contradiction of two fleets that both select `device`, as sentences; undefined if there is none. */
export async function findContradiction(
  records: NameRecords,
  mine: FleetOfDevice,
  other: FleetOfDevice,
  device: string,
): Promise<string | undefined> {
  const point = await contradictionOf(records, mine, other);
  if (point === undefined) return undefined;
  return (
    `The fleets '${mine.name}' and '${other.name}' both select ${device} and differ about ${point}. ` +
    `Remove it from one of them with 'larder fleet remove', or set this in one of them only.`
  );
}

async function contradictionOf(
  { packages }: NameRecords,
  mine: FleetOfDevice,
  other: FleetOfDevice,
): Promise<string | undefined> {
  if (mine.refreshWindow !== null && other.refreshWindow !== null && mine.refreshWindow !== other.refreshWindow)
    return 'the refresh window';
  const nameOf = async (id: string): Promise<string> => `snap/${(await packages.byId(id))?.name ?? id}`;
  const setBy = ({ settings }: FleetOfDevice): Set<string> => new Set(settings.map(({ packageId }) => packageId));
  const hidden = [
    ...mine.hidden.filter((id) => setBy(other).has(id)),
    ...other.hidden.filter((id) => setBy(mine).has(id)),
  ][0];
  if (hidden !== undefined) return `whether ${await nameOf(hidden)} is hidden`;
  const keyOf = ({ packageId, channel }: FleetSetting): string => `${packageId} ${channel}`;
  const texts = (fleet: FleetOfDevice, key: string): string =>
    fleet.settings
      .filter((setting) => keyOf(setting) === key)
      .map((setting) => `${setting.slot} ${settingText(setting)}`)
      .sort()
      .join();
  const differing = mine.settings.find((setting) => {
    const theirs = texts(other, keyOf(setting));
    return theirs !== '' && theirs !== texts(mine, keyOf(setting));
  });
  return differing && `${await nameOf(differing.packageId)} ${differing.channel}`;
}

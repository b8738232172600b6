// The lines of changes of fleets for approvers. They are releases: devices get other revisions.
import { createDigest } from '#domain/cryptography.ts';
import { channelLine, type ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { selectorText } from '#domain/fleets/fleet.ts';
import { settingText, type FleetSetting } from '#domain/fleets/fleet-view.ts';
import type { Fleet } from '#records/fleets/fleets.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';

type LinePackage = Pick<PublishedPackage, 'namespace' | 'name'>;

/** The state of a slot that a fleet does not change. */
const asInStore = 'as in the store';

/** The part of a channel that a line is about: `fleet pumps, amd64`. */
const partOf = (fleet: string, slot: string): string => `fleet ${fleet}${slot === '*' ? '' : `, ${slot}`}`;

const textAt = (settings: readonly FleetSetting[], slot: string): string => {
  const setting = settings.find((candidate) => candidate.slot === slot);
  return setting === undefined ? asInStore : settingText(setting);
};

/** One line for each slot of a channel that has a setting before or after. */
export function settingLines(
  subject: LinePackage,
  { fleet, channel }: Pick<FleetSetting, 'fleet' | 'channel'>,
  { before, after }: { before: readonly FleetSetting[]; after: readonly FleetSetting[] },
): { slot: string; line: ApprovalLine }[] {
  const slots = [...new Set([...before, ...after].map(({ slot }) => slot))].sort();
  return slots.map((slot) => {
    const change = { from: textAt(before, slot), to: textAt(after, slot) };
    return { slot, line: channelLine(subject, { channel, part: partOf(fleet, slot), ...change }) };
  });
}

const shownText = (isHidden: boolean): string => (isHidden ? 'hidden' : 'shown');

/** Whether a fleet changes anything for its devices. */
export async function hasEffect(
  { fleets }: Pick<ChangeRecords, 'fleets'>,
  { name, refreshWindow }: Pick<Fleet, 'name' | 'refreshWindow'>,
): Promise<boolean> {
  if (refreshWindow !== null) return true;
  const [settings, hidden] = [await fleets.settingsIn([name]), await fleets.hiddenIn([name])];
  return settings.length + hidden.length > 0;
}

const withoutEffect = 'without effect';

/**
 * Adds the devices of a fleet to the line of its first setting. Until then devices are added without approval, so the approvers of the
 * setting have to see them; afterwards each change of them is a line.
 */
export async function withDevices(
  tx: Pick<ChangeRecords, 'fleets'>,
  fleet: Pick<Fleet, 'name' | 'refreshWindow'>,
  lines: readonly ApprovalLine[],
): Promise<ApprovalLine[]> {
  const [first] = lines.filter(({ from, to }) => from !== to);
  if (first === undefined || (await hasEffect(tx, fleet))) return [...lines];
  return [...lines, devicesLine(fleet.name, first, (await tx.fleets.allSelectors(fleet.name)).map(selectorText))];
}

/** The line for the devices of a fleet that had no effect before. `first` is the line of its first setting. */
export const devicesLine = (fleet: string, first: ApprovalLine, devices: readonly string[]): ApprovalLine => ({
  ...first,
  part: partOf(fleet, 'devices'),
  from: withoutEffect,
  to: devicesText(devices),
});

/** The devices of a fleet: all of a few, else their number and digest; null if there are none. */
export function devicesText(unordered: readonly string[]): string | null {
  const devices = unordered.toSorted();
  if (devices.length <= devicesShown) return devices.length === 0 ? null : devices.join(', ');
  return `${String(devices.length)} (sha256 ${createDigest('change').update(devices.join('\n')).digest('hex')})`;
}

const devicesShown = 20;

/** The part of a fleet that a line about many devices is about. No selector has a space. */
export const allDevices = 'all devices';

/** The line for a snap that a fleet hides or shows. `*` stands for all of its channels, so the rules for any of them cover it. */
export const visibilityLine = (subject: LinePackage, fleet: string, { from, to }: { from: boolean; to: boolean }) =>
  channelLine(subject, { channel: '*', part: partOf(fleet, '*'), from: shownText(from), to: shownText(to) });

/** The line for the refresh window of a fleet, which delays the revisions of all snaps. */
export const windowLine = (fleet: string, { from, to }: { from: string | null; to: string | null }): ApprovalLine => ({
  kind: 'releases',
  on: `fleet/${fleet}`,
  part: 'refresh window',
  from,
  to,
});

/** The line for devices that become part of a fleet, or cease to be. */
export const selectorLine = (fleet: string, selector: string, isAdded: boolean): ApprovalLine => ({
  kind: 'releases',
  on: `fleet/${fleet}`,
  part: selectorText(selector),
  from: isAdded ? null : 'in the fleet',
  to: isAdded ? 'in the fleet' : null,
});

/** The current text of the thing that a line is about; undefined if the line is not about a fleet. */
export async function currentFleetText(
  tx: Pick<ChangeRecords, 'fleets' | 'packages'>,
  { on, part }: ApprovalLine,
): Promise<string | null | undefined> {
  const [, ofFleet] = /^fleet\/([^:]+)$/.exec(on) ?? [];
  const [, name, slot = '*'] = /^fleet ([^,]+)(?:, (.+))?$/.exec(part ?? '') ?? [];
  if (slot === 'devices') {
    const fleet = await tx.fleets.find(name ?? '');
    return fleet !== undefined && (await hasEffect(tx, fleet)) ? 'in effect' : withoutEffect;
  }
  if (ofFleet !== undefined) {
    const fleet = await tx.fleets.find(ofFleet);
    if (part === 'refresh window') return fleet?.refreshWindow ?? null;
    if (part === allDevices) return devicesText((await tx.fleets.allSelectors(ofFleet)).map(selectorText));
    const selector = `${fleet?.kind ?? ''}:${part ?? ''}`;
    return (await tx.fleets.selectorsAmong(ofFleet, [selector])).size > 0 ? 'in the fleet' : null;
  }
  if (name === undefined) return undefined;
  const [subject = '', channel = ''] = on.split(':');
  const [namespace = '', packageName = ''] = subject.split('/');
  const id = (await tx.packages.find(namespace, packageName))?.id;
  if (channel === '*') return shownText((await tx.fleets.hiddenIn([name])).some(({ packageId }) => packageId === id));
  const settings = await tx.fleets.settingsIn([name]);
  return textAt(
    settings.filter((setting) => setting.packageId === id && setting.channel === channel),
    slot,
  );
}

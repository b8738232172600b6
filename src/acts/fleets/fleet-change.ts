// The change of a whole fleet, as a transfer makes it and its withdrawal takes it back: with its lines, and its rollback.
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { selectorText, toSelector, type FleetKind } from '#domain/fleets/fleet.ts';
import { settingText, type FleetSetting } from '#domain/fleets/fleet-view.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { ActContext } from '../act.ts';
import { refuseContradictions } from './contradictions.ts';
import {
  allDevices,
  devicesLine,
  devicesText,
  hasEffect,
  selectorLine,
  settingLines,
  visibilityLine,
  windowLine,
} from './fleet-lines.ts';

/** The site that a fleet came from, and the fleet as that site brought it, as JSON. */
export interface FleetOrigin {
  site: string;
  text: string;
}

interface Replacement<Value> {
  from: Value;
  to: Value;
}

export interface FleetChange {
  fleet: string;
  kind: FleetKind;
  /** Whether the change adds the fleet, removes it, or changes a present one. */
  step: 'add' | 'remove' | 'change';
  window: Replacement<string | null>;
  /** The settings of each changed channel. */
  channels: ({ packageId: string; channel: string } & Replacement<FleetSetting[]>)[];
  hidden: ({ packageId: string } & Replacement<boolean>)[];
  /** Devices that the fleet selects from now on, and no longer, as people write them. */
  add: string[];
  remove: string[];
  origin: Replacement<FleetOrigin | null>;
}

/** A line of a change for people; `approval` is undefined if the line changes nothing for devices. */
interface FleetLine {
  item: string;
  from: string | null;
  to: string | null;
  approval?: ApprovalLine;
}

interface FleetLineContext {
  packageOf: (id: string) => Pick<PublishedPackage, 'namespace' | 'name'>;
  /** The devices before the change. */
  devices: readonly string[];
  /** Whether the fleet changes anything for its devices before the change. */
  hadEffect: boolean;
}

/** The maximum number of changed devices with a line each. More of them have one line. */
const maxDeviceLines = 20;

/** A line for each changed row; the devices of a long list have one line with their digest. */
export function describeFleetChange(change: FleetChange, context: FleetLineContext): FleetLine[] {
  const { fleet, kind, step, window, channels, hidden } = change;
  const { packageOf, hadEffect } = context;
  const effects = [
    ...channels.flatMap(({ packageId, channel, from, to }) => {
      const subject = packageOf(packageId);
      return settingLines(subject, { fleet, channel }, { before: from, after: to }).map(({ slot, line }) =>
        lineWith(settingItem(subject.name, channel, slot), line),
      );
    }),
    ...hidden.map(({ packageId, from, to }) => {
      const subject = packageOf(packageId);
      return lineWith(`${subject.namespace}/${subject.name}`, visibilityLine(subject, fleet, { from, to }));
    }),
    lineWith('refresh window', windowLine(fleet, window)),
  ].filter(({ from, to }) => from !== to);
  const rule = `by ${kind}`;
  const [from, to] = step === 'add' ? [null, rule] : [rule, step === 'remove' ? null : rule];
  const { lines, after } = deviceLines(change, context);
  const [first] = effects;
  // As for local changes (see `withDevices`): the first setting needs a line with all devices, which were added without approval.
  const whole = first?.approval && !hadEffect ? [devicesLine(fleet, first.approval, after)] : [];
  return [
    ...(from === to ? [] : [{ item: 'rule', from, to }]),
    ...lines.map(({ approval, ...line }) => (hadEffect ? { ...line, approval } : line)),
    ...effects,
    ...whole.map((approval) => ({ item: allDevices, from: approval.from, to: approval.to, approval })),
  ];
}

/** A slot of a channel of a snap, in a line. */
export const settingItem = (snap: string, channel: string, slot: string): string =>
  `snap/${snap} ${channel}${slot === '*' ? '' : ` (${slot})`}`;

const lineWith = (item: string, approval: ApprovalLine): FleetLine & { approval: ApprovalLine } => ({
  item,
  from: approval.from,
  to: approval.to,
  approval,
});

function deviceLines(
  { fleet, kind, add, remove }: FleetChange,
  { devices }: FleetLineContext,
): { lines: (FleetLine & { approval: ApprovalLine })[]; after: string[] } {
  const removed = new Set(remove);
  const after = [...devices.filter((text) => !removed.has(text)), ...add].sort();
  if (add.length + remove.length <= maxDeviceLines) {
    const lineOf = (isAdded: boolean) => (text: string) =>
      lineWith(`device ${text}`, selectorLine(fleet, toSelector(kind, text), isAdded));
    return { lines: [...add.map(lineOf(true)), ...remove.map(lineOf(false))], after };
  }
  const [from, to] = [devicesText(devices), devicesText(after)];
  const approval: ApprovalLine = { kind: 'releases', on: `fleet/${fleet}`, part: allDevices, from, to };
  return { lines: [lineWith('devices', approval)], after };
}

/** Makes a change, in the transaction of an act. Refuses it if another fleet contradicts the result. */
export async function applyFleetChange(
  tx: ChangeRecords,
  { fleet: name, kind, step, window, channels, hidden, add, remove, origin }: FleetChange,
  { at, actor }: Pick<ActContext, 'at' | 'actor'>,
): Promise<void> {
  if (step === 'remove') {
    await tx.fleets.remove(name);
    return;
  }
  const fleet = { name, kind, createdAt: at, createdBy: actor };
  if (step === 'add' && !(await tx.fleets.claim(fleet)))
    throw new Refusal('conflict', `There is a fleet '${name}' already.`);
  const removed = remove.map((text) => toSelector(kind, text));
  await tx.fleets.removeSelectors(name, removed);
  await tx.fleets.addSelectors(fleet, add);
  if (window.from !== window.to) await tx.fleets.setWindow(name, window.to);
  for (const { packageId, channel, to } of channels) {
    const settings = to.map((setting) => ({ ...setting, setAt: at, setBy: actor }));
    await tx.fleets.setChannel({ fleet: name, packageId, channel }, settings);
    // A transfer can bring a revision for a fleet only. Devices get released revisions.
    for (const { revision, withdrawn } of to)
      if (revision !== null && !withdrawn && (await tx.revisions.find(packageId, revision)) !== undefined)
        await tx.revisions.markReleased(packageId, revision);
  }
  for (const { packageId, to } of hidden) {
    if (to) await tx.fleets.hide(name, packageId, { at, actor });
    else await tx.fleets.unhide(name, packageId);
  }
  await tx.fleets.setSource(name, origin.to);
  await refuseContradictions(tx, name);
}

const swapReplacement = <Value>({ from, to }: Replacement<Value>): Replacement<Value> => ({ from: to, to: from });

/** The change that takes another one back. Slots of revisions that were withdrawn since give nothing. */
async function reverse(tx: ChangeRecords, change: FleetChange): Promise<FleetChange> {
  const { step, window, channels, hidden, add, remove, origin } = change;
  const restored = [];
  for (const { from, to, ...at } of channels) {
    const settings = [];
    for (const setting of from) {
      const { packageId, revision, withdrawn } = setting;
      const isGone =
        revision !== null && ((await tx.revisions.find(packageId, revision))?.withdrawnAt ?? null) !== null;
      settings.push({ ...setting, withdrawn: withdrawn || isGone });
    }
    restored.push({ ...at, from: to, to: settings });
  }
  return {
    ...change,
    step: step === 'add' ? 'remove' : 'change',
    window: swapReplacement(window),
    channels: restored,
    hidden: hidden.map(({ packageId, ...shown }) => ({ packageId, ...swapReplacement(shown) })),
    add: remove,
    remove: add,
    origin: swapReplacement(origin),
  };
}

/** The lines for approvers of a rollback. */
export async function undoFleetLines(tx: ChangeRecords, changes: readonly FleetChange[]): Promise<ApprovalLine[]> {
  const lines: ApprovalLine[] = [];
  for (const change of changes) {
    const fleet = await tx.fleets.find(change.fleet);
    if (fleet === undefined) continue;
    const names = new Map<string, Pick<PublishedPackage, 'namespace' | 'name'>>();
    for (const { packageId } of [...change.channels, ...change.hidden]) {
      const subject = await tx.packages.byId(packageId);
      names.set(packageId, subject ?? { namespace: 'snap', name: packageId });
    }
    const described = describeFleetChange(await reverse(tx, change), {
      packageOf: (id) => names.get(id)!,
      devices: (await tx.fleets.allSelectors(change.fleet)).map(selectorText),
      hadEffect: await hasEffect(tx, fleet),
    });
    for (const { item, from, to, approval } of described) {
      if (approval !== undefined) lines.push(approval);
      lines.push({ kind: 'transfers', on: `fleet/${change.fleet} ${item}`, part: null, from, to });
    }
  }
  return lines;
}

/** Takes changes back; refuses if one of their fleets was changed since. */
export async function undoFleetChanges(
  tx: ChangeRecords,
  changes: readonly FleetChange[],
  doing: Pick<ActContext, 'at' | 'actor'>,
): Promise<void> {
  for (const change of changes) {
    if (await isAsLeft(tx, change)) continue;
    throw new Refusal(
      'conflict',
      `fleet/${change.fleet} was changed after the transfer was accepted, so nothing was withdrawn.`,
    );
  }
  for (const change of changes.toReversed()) await applyFleetChange(tx, await reverse(tx, change), doing);
}

/** Whether a fleet is as a change left it. A revision that was withdrawn since is no change of the fleet. */
async function isAsLeft(tx: ChangeRecords, change: FleetChange): Promise<boolean> {
  const { fleet: name, kind, step, window, channels, hidden, add, remove, origin } = change;
  const fleet = await tx.fleets.find(name);
  if (fleet?.refreshWindow !== window.to || (await tx.fleets.sourceText(name)) !== origin.to?.text) return false;
  const [settings, hiddenNow] = [await tx.fleets.settingsIn([name]), await tx.fleets.hiddenIn([name])];
  const slotsText = (of: readonly FleetSetting[]): string =>
    of
      .map((setting) => `${setting.slot} ${settingText({ ...setting, withdrawn: false })}`)
      .sort()
      .join();
  const areSet = channels.every(
    ({ packageId, channel, to }) =>
      slotsText(settings.filter((setting) => setting.packageId === packageId && setting.channel === channel)) ===
      slotsText(to),
  );
  const areHidden = hidden.every(({ packageId, to }) => hiddenNow.some((row) => row.packageId === packageId) === to);
  const selectors = new Set((await tx.fleets.allSelectors(name)).map(selectorText));
  const areSelected = add.every((text) => selectors.has(text)) && !remove.some((text) => selectors.has(text));
  // A fleet that the change added is removed, so it must have nothing else.
  const isWhole =
    step !== 'add' ||
    (fleet.kind === kind &&
      selectors.size === add.length &&
      hiddenNow.length === hidden.length &&
      settings.length === channels.reduce((count, { to }) => count + to.length, 0));
  return areSet && areHidden && areSelected && isWhole;
}

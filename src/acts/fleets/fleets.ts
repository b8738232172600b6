// Fleets: which devices they select, and when these get new revisions.
import { changedLines, lineText, type ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { isFleetName, maxSelectors, selectorProblem, toSelector, type FleetKind } from '#domain/fleets/fleet.ts';
import { parseRefreshWindow } from '#domain/fleets/refresh-window.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Fleet } from '#records/fleets/fleets.ts';
import type { ChangeRecords } from '#records/index.ts';
import { act } from '../act.ts';
import { refuseContradictions } from './contradictions.ts';
import { hasEffect, selectorLine, windowLine, withDevices } from './fleet-lines.ts';

export const fleetObject = ({ fleet }: { fleet: string }): string => `fleet/${fleet}`;

interface NewFleet {
  fleet: string;
  kind: FleetKind;
  /** The devices, each as people write it: `acme/pump`. */
  selectors: readonly string[];
}

export const createFleet = act<NewFleet, Fleet>({
  name: 'create_fleet',
  summary: 'Create a fleet: a name for devices by their serials, models, brands or stores.',
  on: 'fleet/NAME',
  object: fleetObject,
  gate: { never: 'a new fleet changes no channel' },

  async perform(tx, { fleet: name, kind, selectors }, { at, actor, note }) {
    if (!isFleetName(name)) {
      throw new Refusal(
        'api-error',
        `'${name.slice(0, 60)}' is not the name of a fleet. Use at most 40 lower-case letters, digits and single inner dashes.`,
      );
    }
    refuseSelectors(kind, selectors);
    const fleet = { name, kind, createdAt: at, createdBy: actor };
    if (!(await tx.fleets.claim(fleet))) throw new Refusal('conflict', `There is a fleet '${name}' already.`);
    await tx.fleets.addSelectors(fleet, selectors);
    note({ kind, ...noteSelectors('added', selectors) });
    return { ...fleet, refreshWindow: null, source: null };
  },
});

export const deleteFleet = act<{ fleet: string }, void>({
  name: 'delete_fleet',
  summary: 'Delete a fleet that changes no channel, hides no snap and has no refresh window.',
  on: 'fleet/NAME',
  object: fleetObject,
  gate: { never: 'it changes no channel any longer' },

  async perform(tx, { fleet: name }) {
    const fleet = await requireFleet(tx, name);
    if (await hasEffect(tx, fleet)) {
      throw new Refusal(
        'conflict',
        `The fleet '${name}' still changes what its devices get. 'larder fleet show ${name}' lists it; clear it first.`,
      );
    }
    await tx.fleets.remove(name);
  },
});

interface FleetDevicesChange {
  fleet: string;
  add: readonly string[];
  remove: readonly string[];
}

export const updateFleetDevices = act<FleetDevicesChange, { added: number; removed: number }>({
  name: 'update_fleet_devices',
  summary: 'Add devices to a fleet, or remove devices from it.',
  on: 'fleet/NAME',
  object: fleetObject,
  gate: {
    kinds: ['releases'],
    async lines(tx, change) {
      const fleet = await requireFleet(tx, change.fleet);
      // Devices of a fleet without settings get the same as before.
      return (await hasEffect(tx, fleet)) ? (await planDevices(tx, fleet, change)).lines : [];
    },
  },

  async perform(tx, change, { note }) {
    const fleet = await requireFleet(tx, change.fleet);
    const { add, remove } = await planDevices(tx, fleet, change);
    if (add.length + remove.length === 0) {
      throw new Refusal('conflict', `The fleet '${fleet.name}' selects these devices already, or never did.`);
    }
    await tx.fleets.addSelectors(fleet, add);
    await tx.fleets.removeSelectors(
      fleet.name,
      remove.map((text) => toSelector(fleet.kind, text)),
    );
    await refuseContradictions(tx, fleet.name);
    note({ ...noteSelectors('added', add), ...noteSelectors('removed', remove) });
    return { added: add.length, removed: remove.length };
  },
});

/** The selectors that change, and their lines. */
async function planDevices(
  { fleets }: Pick<ChangeRecords, 'fleets'>,
  { name, kind }: Fleet,
  { add, remove }: FleetDevicesChange,
): Promise<{ add: string[]; remove: string[]; lines: ApprovalLine[] }> {
  refuseSelectors(kind, [...add, ...remove]);
  const selectors = [...add, ...remove].map((text) => toSelector(kind, text));
  const present = await fleets.selectorsAmong(name, selectors);
  const isPresent = (text: string): boolean => present.has(toSelector(kind, text));
  const [added, removed] = [add.filter((text) => !isPresent(text)), remove.filter(isPresent)];
  const lines = [
    ...added.map((text) => selectorLine(name, toSelector(kind, text), true)),
    ...removed.map((text) => selectorLine(name, toSelector(kind, text), false)),
  ];
  return { add: added, remove: removed, lines };
}

interface FleetWindowChange {
  fleet: string;
  /** Null removes the window. */
  window: string | null;
}

export const setFleetWindow = act<FleetWindowChange, string | null>({
  name: 'set_fleet_window',
  summary: 'Set or remove the refresh window of a fleet.',
  on: 'fleet/NAME',
  object: fleetObject,
  gate: {
    kinds: ['releases'],
    lines: async (tx, change) => withDevices(tx, await requireFleet(tx, change.fleet), [await planWindow(tx, change)]),
  },

  async perform(tx, change, { note }) {
    const line = await planWindow(tx, change);
    if (line.from === line.to) {
      throw new Refusal('conflict', `The refresh window of '${change.fleet}' is ${line.to ?? 'not set'} already.`);
    }
    await tx.fleets.setWindow(change.fleet, line.to);
    await refuseContradictions(tx, change.fleet);
    note({ changes: changedLines([line]).map(lineText) });
    return line.to;
  },
});

async function planWindow(tx: Pick<ChangeRecords, 'fleets'>, { fleet: name, window }: FleetWindowChange) {
  const { refreshWindow: from } = await requireFleet(tx, name);
  const parsed = window === null ? undefined : parseRefreshWindow(window);
  if (parsed !== undefined && 'problem' in parsed) throw new Refusal('api-error', parsed.problem);
  return windowLine(name, { from, to: parsed?.text ?? null });
}

/** Returns the record of a fleet; refuses with `resource-not-found` if there is none. */
export async function requireFleet(
  { fleets }: { fleets: Pick<ChangeRecords['fleets'], 'find'> },
  name: string,
): Promise<Fleet> {
  const fleet = await fleets.find(name);
  if (fleet !== undefined) return fleet;
  throw new Refusal('resource-not-found', `There is no fleet '${name.slice(0, 60)}'. 'larder fleet list' lists them.`);
}

function refuseSelectors(kind: FleetKind, selectors: readonly string[]): void {
  if (selectors.length > maxSelectors) {
    throw new Refusal('api-error', `One change names at most ${String(maxSelectors)} devices. Divide it.`);
  }
  const seen = new Set<string>();
  for (const text of selectors) {
    const problem = selectorProblem(kind, text);
    if (problem !== undefined) throw new Refusal('api-error', problem);
    if (seen.has(text)) throw new Refusal('api-error', `${text} is named twice.`);
    seen.add(text);
  }
}

/** The devices for the audit log: all of a few, else their number and a few. */
const noteSelectors = (word: 'added' | 'removed', selectors: readonly string[]) =>
  selectors.length === 0 ? {} : { [word]: selectors.slice(0, 100), [`${word}-count`]: selectors.length };

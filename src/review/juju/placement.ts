// Checks the placement of a bundle's units (juju/charm v12.1: bundledata.go, ParsePlacement and verifyPlacement).
import { quoted } from '../unacceptable.ts';
import type { BundleApplication } from './bundle-application.ts';
import { isApplicationName, isMachineId } from './charm-address.ts';
import { refused, type YamlPlace } from './values.ts';

export interface PlacedApplications {
  isKubernetes: boolean;
  applications: ReadonlyMap<string, BundleApplication>;
  machines: ReadonlySet<string>;
}

/** Refuses placements on missing targets, and machines without a unit. */
export function checkPlacements(data: PlacedApplications, place: YamlPlace): void {
  const used = new Set<string>();
  for (const [name, application] of data.applications) {
    if (data.isKubernetes) checkSelector(name, application, place);
    else for (const machine of machinesOf(name, application, data, place)) used.add(machine);
  }
  const idle = [...data.machines].find((id) => !used.has(id));
  if (idle !== undefined)
    throw refused(place, `no unit is placed on the machine ${quoted(idle)}`, "Remove it, or name it under 'to'.");
}

/** Checks labels of nodes, such as `disk=ssd,zone=a`. */
function checkSelector(name: string, { placements }: BundleApplication, place: YamlPlace): void {
  const called = `the application ${quoted(name)}`;
  const [selector = '', ...others] = placements;
  if (others.length > 0) throw refused(place, `${called} has more than one placement`, 'Keep one.');
  const keys = new Set<string>();
  for (const pair of selector.split(',').filter((part) => part !== '')) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === '' || value.join('=').trim() === '' || keys.has(key.trim()))
      throw refused(place, `the placement ${quoted(pair)} of ${called} is no label with its value`);
    keys.add(key.trim());
  }
}

/** The machines of an application's units. */
function machinesOf(
  name: string,
  { placements, units }: BundleApplication,
  { applications, machines }: PlacedApplications,
  place: YamlPlace,
): string[] {
  const used: string[] = [];
  if (units >= 0 && placements.length > units)
    throw refused(place, `the application ${quoted(name)} has more placements than units`);
  for (const placement of placements) {
    const written = `the placement ${quoted(placement)} of the application ${quoted(name)}`;
    const { target, unit } = parsePlacement(placement) ?? {};
    if (target === undefined) throw refused(place, `${written} is none`, 'Write such as 0, lxd:1, db/0 or new.');
    if (target === 'new') continue;
    if (isMachineId(target)) {
      if (!machines.has(target)) throw refused(place, `${written} names a machine that the bundle does not have`);
      used.push(target);
      continue;
    }
    const other = applications.get(target);
    if (other === undefined) throw refused(place, `${written} names an application that the bundle does not have`);
    if (unit !== undefined && unit >= other.units)
      throw refused(place, `${written} names a unit that is not there: ${quoted(target)} has ${String(other.units)}`);
  }
  return used;
}

/** Parses `(CONTAINER:)?(APPLICATION(/UNIT)?|MACHINE|new)`. */
function parsePlacement(text: string): { target: string; unit: number | undefined } | undefined {
  const [, rest = ''] = /^(?:[a-z]+:)?([^:]*)$/.exec(text) ?? [];
  const [target = '', unit, ...others] = rest.split('/');
  if (others.length > 0) return undefined;
  if (isMachineId(target)) return unit === undefined ? { target, unit: undefined } : undefined;
  if (!isApplicationName(target)) return undefined;
  if (unit === undefined) return { target, unit };
  return isMachineId(unit) && target !== 'new' ? { target, unit: Number(unit) } : undefined;
}

// Fleets: names for devices, selected by a rule. A fleet can give its devices other revisions than the channels of the store.
import { isAccountId } from '../ids.ts';

/** The kinds of fleets, the most specific first: of two fleets with one device, the more specific kind decides. */
export const fleetKinds = ['serial', 'model', 'brand', 'store'] as const;
export type FleetKind = (typeof fleetKinds)[number];

/** The maximum number of selectors in one change. */
export const maxSelectors = 10_000;

export const isFleetName = (text: string): boolean => text.length <= 40 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text);

/** A device by its serial, as its session proves it. */
interface ProvenDevice {
  /** An account id. */
  readonly brand: string;
  readonly model: string;
  readonly serial: string;
}

/** A selector as the records store it: `model:acme/pump`. The kind is a part of it, so one text never means two things. */
export const toSelector = (kind: FleetKind, text: string): string => `${kind}:${text}`;

/** The selector as people write it: `acme/pump`. */
export const selectorText = (selector: string): string => selector.slice(selector.indexOf(':') + 1);

export const kindOfSelector = (selector: string): FleetKind => selector.slice(0, selector.indexOf(':')) as FleetKind;

/** The selectors that select a device, the most specific first. A caller without a proven serial has only the id of its store. */
export const selectorsOf = (device: ProvenDevice | undefined, storeId: string): string[] => [
  ...(device === undefined
    ? []
    : [
        toSelector('serial', `${device.brand}/${device.model}/${device.serial}`),
        toSelector('model', `${device.brand}/${device.model}`),
        toSelector('brand', device.brand),
      ]),
  toSelector('store', storeId),
];

/** The model and the serial in the text of a selector; empty if its kind has none. */
export function partsOfSelector(kind: FleetKind, text: string): { model: string; serial: string } {
  const [brand = '', model = '', serial = ''] = text.split('/');
  if (kind !== 'model' && kind !== 'serial') return { model: '', serial: '' };
  return { model: `${brand}/${model}`, serial: kind === 'serial' ? serial : '' };
}

const isModel = (text: string): boolean => text.length <= 128 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text);
export const isSerial = (text: string): boolean => /^[^\s/\p{Cc}]{1,256}$/u.test(text);

/** Why a text selects no devices of this kind, as a sentence; undefined if it does. */
export function selectorProblem(kind: FleetKind, text: string): string | undefined {
  const shown = `'${text.slice(0, 80)}'`;
  const parts = text.split('/');
  const [brand = '', model = '', serial = ''] = parts;
  if (kind === 'store')
    return /^[!-~]{1,128}$/.test(text) ? undefined : `${shown} is not the id of a store. It has printable characters.`;
  if (kind === 'brand') return isAccountId(text) ? undefined : `${shown} is not the account id of a brand.`;
  if (kind === 'model')
    return parts.length === 2 && isAccountId(brand) && isModel(model)
      ? undefined
      : `${shown} is not a model. Write BRAND/MODEL, such as acme/pump.`;
  return parts.length === 3 && isAccountId(brand) && isModel(model) && isSerial(serial)
    ? undefined
    : `${shown} is not a device. Write BRAND/MODEL/SERIAL, such as acme/pump/0001.`;
}

/** Returns whether a fleet selects a device. `storeId` is the id of the store that the device names, or of this store. */
export const isInFleet = (selectors: ReadonlySet<string>, device: ProvenDevice | undefined, storeId: string): boolean =>
  selectorsOf(device, storeId).some((selector) => selectors.has(selector));

// Reads the storage and the devices that a charm asks for (juju/charm v12, meta.go; sizes as in juju/utils v3,
// size.go).
import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import {
  booleanOf,
  integerOf,
  isNonText,
  listOf,
  mapOf,
  membersOf,
  mistyped,
  describePlace,
  oneOf,
  optional,
  parseInteger,
  refused,
  textOf,
  within,
  type YamlPlace,
} from './values.ts';

/** Reads the storage of a charm; returns the names. */
export const readStorage = (value: TypedYaml, place: YamlPlace): Set<string> =>
  new Set(mapOf(value, place, checkStorage).keys());

function checkStorage(value: TypedYaml, place: YamlPlace): void {
  const members = membersOf(value, place);
  const type = oneOf('block', 'filesystem')(members.get('type'), within(place, 'type'));
  for (const key of ['shared', 'read-only']) optional(members, key, place, booleanOf);
  optional(members, 'multiple', place, (multiple, at) => {
    checkRange(membersOf(multiple, at).get('range'), within(at, 'range'));
  });
  optional(members, 'minimum-size', place, checkSize);
  optional(members, 'description', place, textOf);
  optional(members, 'properties', place, (list, at) => listOf(list, at, oneOf('transient')));
  const location = optional(members, 'location', place, textOf) ?? '';
  if (location !== '' && type !== 'filesystem')
    throw refused(
      place,
      `${describePlace(place)} has a location, which only the type filesystem takes`,
      'Remove the location.',
    );
}

const rangeText = /^([0-9]+)(?:[-+]|-([0-9]+))$/;

/** Checks a number of instances: `3`, `1-3`, `1+` or `1-`. */
function checkRange(value: TypedYaml | undefined, place: YamlPlace): void {
  const text = isNonText(value) && value.type === 'int' ? value.text.replaceAll('_', '') : value;
  const count = typeof text === 'string' ? parseInteger(text) : undefined;
  if (count !== undefined) {
    if (count <= 0) throw refused(place, `${describePlace(place)} must be at least 1, but is ${String(count)}`);
    return;
  }
  if (typeof text !== 'string') throw mistyped(place, "a count such as 2, '1-3' or '1+'", value);
  const [, min, max] = rangeText.exec(text) ?? [];
  if (min === undefined) throw mistyped(place, "a count such as 2, '1-3' or '1+'", value);
  for (const digits of [min, max ?? '1']) {
    if (parseInteger(digits.replace(/^0+(?=\d)/, '')) === undefined)
      throw refused(place, `${describePlace(place)} has a number that is too large`);
  }
  if (max !== undefined && Number(max) === 0) throw refused(place, `${describePlace(place)} must allow at least 1`);
}

const sizeText = /^(?:\d+(?:\.\d*)?|\.\d+)(?:[MGTPEZY](?:B|iB)?)?$/;

/** Checks a size in mebibytes, or with a unit: `500`, `1.5G`, `2TiB`. */
function checkSize(value: TypedYaml, place: YamlPlace): void {
  const text = textOf(value, place);
  if (text.length > 100 || !sizeText.test(text))
    throw refused(place, `${describePlace(place)} is ${quoted(text)}, which is no size such as 1G or 500M`);
}

/** Checks the devices of a charm. */
export function checkDevices(value: TypedYaml, place: YamlPlace): void {
  mapOf(value, place, (device, at) => {
    const members = membersOf(device, at);
    if (textOf(members.get('type'), within(at, 'type')) === '')
      throw refused(at, `${describePlace(at)} has no type`, 'Add one, such as gpu.');
    optional(members, 'description', at, textOf);
    const [min, max] = ['countmin', 'countmax'].map((key) => optional(members, key, at, countOf) ?? 1);
    if (min! > max!)
      throw refused(at, `${describePlace(at)} wants at least ${String(min)}, and at most ${String(max)}`);
  });
}

function countOf(value: TypedYaml, place: YamlPlace): number {
  const count = integerOf(value, place);
  if (count < 0) throw refused(place, `${describePlace(place)} must not be negative, but is ${String(count)}`);
  return count;
}

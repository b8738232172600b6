// Reads YAML values of a charm or a bundle as Go decodes them into structs (gopkg.in/yaml.v2 v2.4.0, decode.go): a
// number or a boolean is accepted as text, an empty value counts as absent, and a list is never a single value.
import type { TypedYaml } from '../yaml.ts';
import {
  describe,
  isNonText,
  isTrue,
  mistyped,
  describePlace,
  parseInteger,
  refused,
  within,
  type YamlMembers,
  type YamlPlace,
} from './values.ts';

export function decodeText(value: TypedYaml | undefined, place: YamlPlace): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (isNonText(value)) return value.text;
  throw mistyped(place, 'text', value);
}

export function decodeInteger(value: TypedYaml | undefined, place: YamlPlace): number {
  if (value === undefined || value === null) return 0;
  if (isNonText(value) && value.type === 'int') {
    const read = parseInteger(value.text.replaceAll('_', ''));
    if (read !== undefined) return read;
  }
  if (isNonText(value) && value.type === 'float') {
    const read = Number(value.text.replaceAll('_', ''));
    if (Math.abs(read) <= 2 ** 63) return Math.trunc(read);
  }
  throw mistyped(place, 'a whole number', value);
}

export function decodeBoolean(value: TypedYaml | undefined, place: YamlPlace): boolean {
  if (value === undefined || value === null) return false;
  if (isNonText(value) && value.type === 'bool') return isTrue(value);
  throw mistyped(place, 'true or false', value);
}

/** The members of a mapping; an empty value has none. */
export function decodeMembers(value: TypedYaml | undefined, place: YamlPlace): YamlMembers {
  if (value === undefined || value === null) return new Map();
  if (!(value instanceof Map)) throw mistyped(place, 'a mapping', value);
  const members = new Map<string, TypedYaml>();
  for (const [key, member] of value) {
    if (Array.isArray(key) || key instanceof Map)
      throw refused(place, `a name in ${describePlace(place)} must be text, but is ${describe(key)}`);
    members.set(decodeText(key, place), member);
  }
  return members;
}

export function decodeMap<Item>(
  value: TypedYaml | undefined,
  place: YamlPlace,
  item: (value: TypedYaml, place: YamlPlace) => Item,
): Map<string, Item> {
  const members = decodeMembers(value, place);
  return new Map([...members].map(([name, member]) => [name, item(member, within(place, name))]));
}

export function decodeList<Item>(
  value: TypedYaml | undefined,
  place: YamlPlace,
  item: (value: TypedYaml, place: YamlPlace) => Item,
): Item[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw mistyped(place, 'a list', value);
  return value.map((element, at) => item(element, { ...place, path: `${place.path}[${String(at)}]` }));
}

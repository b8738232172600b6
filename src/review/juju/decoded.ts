// Reads YAML values of a charm or a bundle as Go decodes them into structs (gopkg.in/yaml.v2 v2.4.0, decode.go): a
// number or a boolean is accepted as text, an empty value counts as absent, and a list is never a single value.
import type { TypedYaml } from '../yaml.ts';
import {
  describe,
  isNonText,
  isTrue,
  mistyped,
  named,
  parseInteger,
  refused,
  within,
  type Members,
  type YamlPlace,
} from './values.ts';

export function decodedText(value: TypedYaml | undefined, place: YamlPlace): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (isNonText(value)) return value.text;
  throw mistyped(place, 'text', value);
}

export function decodedInteger(value: TypedYaml | undefined, place: YamlPlace): number {
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

export function decodedBoolean(value: TypedYaml | undefined, place: YamlPlace): boolean {
  if (value === undefined || value === null) return false;
  if (isNonText(value) && value.type === 'bool') return isTrue(value);
  throw mistyped(place, 'true or false', value);
}

/** The members of a mapping; an empty value has none. */
export function decodedMembers(value: TypedYaml | undefined, place: YamlPlace): Members {
  if (value === undefined || value === null) return new Map();
  if (!(value instanceof Map)) throw mistyped(place, 'a mapping', value);
  const members = new Map<string, TypedYaml>();
  for (const [key, one] of value) {
    if (Array.isArray(key) || key instanceof Map)
      throw refused(place, `a name in ${named(place)} must be text, but is ${describe(key)}`);
    members.set(decodedText(key, place), one);
  }
  return members;
}

export function decodedMap<Item>(
  value: TypedYaml | undefined,
  place: YamlPlace,
  item: (value: TypedYaml, place: YamlPlace) => Item,
): Map<string, Item> {
  const members = decodedMembers(value, place);
  return new Map([...members].map(([name, one]) => [name, item(one, within(place, name))]));
}

export function decodedList<Item>(
  value: TypedYaml | undefined,
  place: YamlPlace,
  item: (value: TypedYaml, place: YamlPlace) => Item,
): Item[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw mistyped(place, 'a list', value);
  return value.map((one, at) => item(one, { ...place, path: `${place.path}[${String(at)}]` }));
}

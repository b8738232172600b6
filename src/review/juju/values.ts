// Reads YAML values of a charm as the types that juju requires, with juju's conversions (juju/schema v1.2.0, maps.go,
// fieldmap.go, lists.go, strings.go, numeric.go). Refuses a value of another type and names its place.
import { Unacceptable, quoted } from '../unacceptable.ts';
import type { NonText, TypedYaml } from '../yaml.ts';

/** The place of a value, such as `storage.data.type` in `metadata.yaml`. */
export interface YamlPlace {
  file: string;
  path: string;
}

/** The members of a mapping by their names. */
export type YamlMembers = ReadonlyMap<string, TypedYaml>;

export const fileOf = (file: string): YamlPlace => ({ file, path: '' });

export const within = ({ file, path }: YamlPlace, name: string): YamlPlace => ({
  file,
  path: path === '' ? name : `${path}.${name}`,
});

/** The error that juju cannot read a file; `problem` completes the sentence. */
export const refused = ({ file }: Pick<YamlPlace, 'file'>, problem: string, remedy = 'Correct it.'): Unacceptable =>
  new Unacceptable(`juju cannot read ${file}: ${problem}. ${remedy}`);

/** A value as a sentence names it. */
export function describe(value: TypedYaml | undefined): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'empty';
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Map) return 'a mapping';
  return `the ${value.type === 'bool' ? 'boolean' : 'number'} ${quoted(value.text)}`;
}

export const isNonText = (value: TypedYaml | undefined): value is NonText =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map);

export const describePlace = ({ path }: YamlPlace): string => (path === '' ? 'the file' : quoted(path));

export function mistyped(place: YamlPlace, type: string, value: TypedYaml | undefined): Unacceptable {
  const remedy = type === 'text' && isNonText(value) ? 'Put it in quotes.' : 'Correct it.';
  return refused(place, `${describePlace(place)} must be ${type}, but is ${describe(value)}`, remedy);
}

export function textOf(value: TypedYaml | undefined, place: YamlPlace): string {
  if (typeof value === 'string') return value;
  throw mistyped(place, 'text', value);
}

/** The words that Go's strconv.ParseBool accepts; booleans of YAML are already typed. */
const booleans = new Map(
  (
    [
      ['1 t T true TRUE True', true],
      ['0 f F false FALSE False', false],
    ] as const
  ).flatMap(([words, value]) => words.split(' ').map((word) => [word, value] as const)),
);

export const isTrue = ({ text }: NonText): boolean => /^(?:y|yes|true|on)$/i.test(text);

export function booleanOf(value: TypedYaml | undefined, place: YamlPlace): boolean {
  if (isNonText(value) && value.type === 'bool') return isTrue(value);
  const read = typeof value === 'string' ? booleans.get(value) : undefined;
  if (read !== undefined) return read;
  throw mistyped(place, 'true or false', value);
}

/** Go's integer literals, as strconv.ParseInt reads them with base 0. */
const integerText =
  /^[+-]?(?:0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])*|[1-9](?:_?[0-9])*)$/;
/** A longer text does not fit 64 bits. */
const longestInteger = 80;

/** Parses a 64-bit integer, rounded to a number; undefined for any other text. */
export function parseInteger(text: string): number | undefined {
  if (text.length > longestInteger || !integerText.test(text)) return undefined;
  const digits = text
    .replaceAll('_', '')
    .replace(/^[+-]/, '')
    .replace(/^0(?=[0-7])/, '0o');
  const value = text.startsWith('-') ? -BigInt(digits) : BigInt(digits);
  return value >= -(2n ** 63n) && value < 2n ** 63n ? Number(value) : undefined;
}

export function integerOf(value: TypedYaml | undefined, place: YamlPlace): number {
  const text = typeof value === 'string' ? value : isNonText(value) && value.type === 'int' ? value.text : undefined;
  const read = text === undefined ? undefined : parseInteger(isNonText(value) ? text.replaceAll('_', '') : text);
  if (read !== undefined) return read;
  throw mistyped(place, 'a whole number', value);
}

export function listOf<Item>(
  value: TypedYaml | undefined,
  place: YamlPlace,
  item: (value: TypedYaml, place: YamlPlace) => Item,
): Item[] {
  if (!Array.isArray(value)) throw mistyped(place, 'a list', value);
  return value.map((element, at) => item(element, { ...place, path: `${place.path}[${String(at)}]` }));
}

/** Reads a mapping that has only texts as keys. */
export function membersOf(value: TypedYaml | undefined, place: YamlPlace): YamlMembers {
  if (!(value instanceof Map)) throw mistyped(place, 'a mapping', value);
  for (const key of value.keys()) {
    if (typeof key === 'string') continue;
    throw refused(
      place,
      `a name in ${describePlace(place)} must be text, but is ${describe(key)}`,
      'Put it in quotes.',
    );
  }
  return value as Map<string, TypedYaml>;
}

/** Reads a mapping of any names to values of one type. */
export function mapOf<Item>(
  value: TypedYaml | undefined,
  place: YamlPlace,
  item: (value: TypedYaml, place: YamlPlace, name: string) => Item,
): Map<string, Item> {
  const members = membersOf(value, place);
  return new Map([...members].map(([name, member]) => [name, item(member, within(place, name), name)]));
}

/** Reads a member that may be absent; an empty one is refused like any other value of a wrong type. */
export const optional = <Item>(
  members: YamlMembers,
  name: string,
  place: YamlPlace,
  read: (value: TypedYaml, place: YamlPlace) => Item,
): Item | undefined => (members.has(name) ? read(members.get(name)!, within(place, name)) : undefined);

/** Reads a text that must be one of a few words. */
export const oneOf =
  <Word extends string>(...words: readonly Word[]) =>
  (value: TypedYaml | undefined, place: YamlPlace): Word => {
    const match = words.find((word) => word === value);
    if (match !== undefined) return match;
    throw mistyped(place, words.length === 1 ? quoted(words[0]!) : `one of ${words.map(quoted).join(', ')}`, value);
  };

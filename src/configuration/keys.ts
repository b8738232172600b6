// The sections and keys of the configuration with their descriptions, from schemas/config.json and in its order.
import { embeddedText } from '#platform/embedded.ts';
import { parseByteSize } from './byte-sizes.ts';

export interface ConfigSection {
  readonly description: string;
  readonly keys: ReadonlyMap<string, ConfigKey>;
  /** The description of every key, in a section with names that the administrator chooses. */
  readonly anyKey: ConfigKey | undefined;
}

export interface ConfigKey {
  readonly description: string;
  /** The kind of value, to complete the sentence "expected …". */
  readonly expected: string;
  /** The same for a member of the value, if it may be a list. */
  readonly expectedMember: string | undefined;
  /** The allowed words; empty if the value is not one of a few words. */
  readonly words: readonly string[];
  readonly default: unknown;
  /** An example, if there is no default. */
  readonly example: unknown;
  /** Whether messages never repeat the value, because it may be a secret by mistake. */
  readonly secret: boolean;
  /** The allowed TOML types. */
  readonly types: readonly ValueType[];
  /** Whether the value is a size: bytes, or text such as "32 GiB". */
  readonly size: boolean;
}

export type ValueType = 'boolean' | 'integer' | 'string' | 'array';

interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly writeOnly?: boolean;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

let cachedSections: ReadonlyMap<string, ConfigSection> | undefined;

/** The sections by name; the name of a section within another is dotted, such as `identity.oidc`. */
export function sections(): ReadonlyMap<string, ConfigSection> {
  cachedSections ??= readSections(JSON.parse(embeddedText('schemas/config.json')) as Schema);
  return cachedSections;
}

/** Returns the key of a dotted name such as `store.id`. */
export function findKey(name: string): ConfigKey | undefined {
  const [path, key] = splitName(name);
  const section = sections().get(path);
  return section?.keys.get(key) ?? section?.anyKey;
}

/** The section and the key of a dotted name. */
export function splitName(name: string): [section: string, key: string] {
  const dot = name.lastIndexOf('.');
  return [name.slice(0, Math.max(dot, 0)), name.slice(dot + 1)];
}

/** Whether a value of the configuration is the default of its key. Without a default, only a missing value is. */
export const isDefault = ({ default: byDefault, size }: ConfigKey, value: unknown): boolean =>
  value === undefined ||
  JSON.stringify(value) ===
    JSON.stringify(size && byDefault !== undefined ? parseByteSize(byDefault as number | string) : byDefault);

/** The values of a section in a parsed file. */
export function valuesIn(values: unknown, section: string): Readonly<Record<string, unknown>> {
  let table = values;
  for (const name of section.split('.')) {
    table = typeof table === 'object' && table !== null ? (table as Record<string, unknown>)[name] : undefined;
  }
  return typeof table === 'object' && table !== null ? (table as Record<string, unknown>) : {};
}

/** Replaces a section of a parsed file. */
export function putSection(values: Record<string, unknown>, section: string, table: object): void {
  const names = section.split('.');
  const last = names.pop() ?? '';
  const outer = names.reduce((inner, name) => (inner[name] ??= {}) as Record<string, unknown>, values);
  outer[last] = table;
}

function readSections(document: Schema): ReadonlyMap<string, ConfigSection> {
  const follow = (schema: Schema): Schema => {
    const name = schema.$ref?.slice('#/$defs/'.length);
    return name === undefined ? schema : { ...document.$defs?.[name], ...schema };
  };
  const kind = ({ $ref }: Schema): Schema | undefined => document.$defs?.[$ref?.slice('#/$defs/'.length) ?? ''];
  const members = (schema: Schema) => Object.entries(schema.properties ?? {});

  const expected = (schema: Schema): string => {
    const { description } = kind(schema) ?? {};
    if (description !== undefined) return description;
    if (schema.anyOf) return schema.anyOf.map(expected).join(', or ');
    if (schema.enum) return `one of ${schema.enum.map((word) => JSON.stringify(word)).join(', ')}`;
    if (schema.type === 'array')
      return `a list of at most ${String(schema.maxItems)}, each ${expected(schema.items ?? {})}`;
    if (schema.type === 'boolean') return 'true or false';
    return `a whole number from ${String(schema.minimum)} to ${String(schema.maximum)}`;
  };

  const types = (schema: Schema): ValueType[] => {
    if (schema.anyOf) return schema.anyOf.flatMap((choice) => types(follow(choice)));
    const { type = 'string' } = follow(schema);
    return [type as ValueType];
  };

  const readKey = (schema: Schema): ConfigKey => {
    const { items } = [schema, ...(schema.anyOf ?? [])].find(({ items }) => items !== undefined) ?? {};
    return {
      description: schema.description ?? '',
      expected: expected(schema),
      expectedMember: items && expected(items),
      types: [...new Set(types(follow(schema)))],
      words: schema.enum ?? [],
      default: schema.default,
      example: schema.examples?.[0],
      secret: schema.writeOnly === true,
      size: schema.$ref === '#/$defs/ByteSize',
    };
  };

  const read = (name: string, schema: Schema): [string, ConfigSection][] => {
    const section = follow(schema);
    const { description = '', additionalProperties } = section;
    const parts = Map.groupBy(members(section), ([, member]) => follow(member).type === 'object');
    const keys = new Map((parts.get(false) ?? []).map(([key, member]): [string, ConfigKey] => [key, readKey(member)]));
    const anyKey = typeof additionalProperties === 'object' ? readKey(additionalProperties) : undefined;
    const inner = (parts.get(true) ?? []).flatMap(([key, member]) => read(`${name}.${key}`, member));
    return [[name, { description, keys, anyKey }], ...inner];
  };

  return new Map(members(document.$defs?.['Config'] ?? {}).flatMap(([name, section]) => read(name, section)));
}

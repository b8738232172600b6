// The sections and keys of the configuration with their descriptions, from schemas/config.json and in its order.
import { embeddedText } from '#platform/embedded.ts';

export interface ConfigSection {
  readonly description: string;
  readonly keys: ReadonlyMap<string, ConfigKey>;
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
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly writeOnly?: boolean;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

let cachedSections: ReadonlyMap<string, ConfigSection> | undefined;

/** The sections by name. */
export function sections(): ReadonlyMap<string, ConfigSection> {
  cachedSections ??= readSections(JSON.parse(embeddedText('schemas/config.json')) as Schema);
  return cachedSections;
}

/** Returns the key of a dotted name such as `store.id`. */
export function findKey(name: string): ConfigKey | undefined {
  const [section = '', key = '', ...more] = name.split('.');
  return more.length === 0 ? sections().get(section)?.keys.get(key) : undefined;
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

  const root = members(document.$defs?.['Config'] ?? {});
  return new Map(
    root.map(([name, reference]): [string, ConfigSection] => {
      const section = follow(reference);
      const keys = new Map(members(section).map(([key, schema]): [string, ConfigKey] => [key, readKey(schema)]));
      return [name, { description: section.description ?? '', keys }];
    }),
  );
}

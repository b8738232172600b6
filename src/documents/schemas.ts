// The shapes as one document: every reference points to its components.
import { shapes } from '#contract/schema.ts';

type SchemaJson = Record<string, unknown>;

/** A reference to a shape in the document. */
export const reference = (shape: string): SchemaJson => ({ $ref: `#/components/schemas/${shape}` });

let all: Map<string, SchemaJson> | undefined;

/** Every shape by its name. */
export const allSchemas = (): Map<string, SchemaJson> =>
  (all ??= new Map(shapes().map(({ shape, schema }) => [shape, local(schema) as SchemaJson])));

/** The shapes that a value refers to, directly and indirectly. */
export function schemasIn(value: unknown): Record<string, SchemaJson> {
  const schemas = allSchemas();
  const referenced = new Set<string>();
  const want = (node: unknown): void => {
    for (const [, name = ''] of JSON.stringify(node).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (referenced.has(name)) continue;
      referenced.add(name);
      want(schemas.get(name) ?? {});
    }
  };
  want(value);
  return Object.fromEntries([...referenced].sort().map((name) => [name, schemas.get(name) ?? {}]));
}

/** A copy of a schema with all references pointing into the one document. */
const local = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string'
      ? value.replace(/^(?:[\w-]+\.json)?#\/\$defs\//, '#/components/schemas/')
      : value,
  ) as unknown;

// The shapes as one document: every reference points to its components.
import { shapes } from '../schema.ts';

type Json = Record<string, unknown>;

/** A reference to a shape in the document. */
export const reference = (shape: string): Json => ({ $ref: `#/components/schemas/${shape}` });

let all: Map<string, Json> | undefined;

/** Every shape by its name. */
export const allSchemas = (): Map<string, Json> =>
  (all ??= new Map(shapes().map(({ shape, schema }) => [shape, local(schema) as Json])));

/** The shapes that a value refers to, directly and indirectly. */
export function schemasIn(value: unknown): Record<string, Json> {
  const known = allSchemas();
  const wanted = new Set<string>();
  const want = (one: unknown): void => {
    for (const [, name = ''] of JSON.stringify(one).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (wanted.has(name)) continue;
      wanted.add(name);
      want(known.get(name) ?? {});
    }
  };
  want(value);
  return Object.fromEntries([...wanted].sort().map((name) => [name, known.get(name) ?? {}]));
}

/** A copy of a schema with all references pointing into the one document. */
const local = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string'
      ? value.replace(/^(?:[\w-]+\.json)?#\/\$defs\//, '#/components/schemas/')
      : value,
  ) as unknown;

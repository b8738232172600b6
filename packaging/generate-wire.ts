// Writes src/contract/wire.ts, the TypeScript types of everything that goes over the wire, from schemas/*.json.
// The schemas stay the only statement of shape: the result is git-ignored, never edited, and made again whenever
// a schema (or this file) has changed.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from 'json-schema-to-typescript';

import { readIfPresent, writeGenerated } from './write-generated.ts';

interface Schema {
  [keyword: string]: unknown;
  $ref?: string;
  $defs?: Record<string, Schema>;
}

/**
 * The types of every `$defs` entry of these files (name → text), and an index of them called `Wire`. All definitions go
 * into one document first; compiled file by file, shared types would appear twice.
 */
export async function wireTypes(files: ReadonlyMap<string, string>): Promise<string> {
  const parsed = new Map([...files].map(([file, text]) => [file, parse(file, text)]));
  const merged: Record<string, unknown> = {};
  for (const [file, { $defs = {} }] of parsed) {
    for (const [name, schema] of Object.entries($defs)) {
      if (!/^(?:[A-Z][a-z]*\d*)+$/.test(name)) throw new Error(`${file}: '${name}' is not in PascalCase`);
      if (name in merged) throw new Error(`${file}: '${name}' is already defined in another file`);
      const type = typeOnly(schema, (ref) => mergedRef(ref, file, parsed));
      // A definition that is another's second name would not be declared at all.
      merged[name] = typeof type === 'object' && type.$ref !== undefined ? { allOf: [type] } : type;
    }
  }
  const names = Object.keys(merged).sort();
  const index = {
    title: 'Wire',
    description: 'Every shape by its name.',
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }])),
    required: names,
    additionalProperties: false,
    $defs: merged,
  };
  return compile(index as Parameters<typeof compile>[0], 'Wire', {
    additionalProperties: false,
    bannerComment: '',
    customName: (_schema, definition) => definition,
    style: { printWidth: 120, singleQuote: true },
    unknownAny: true,
  });
}

function parse(file: string, text: string): Schema {
  try {
    return JSON.parse(text) as Schema;
  } catch (error) {
    throw new Error(`cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** `account.json#/$defs/Account`, or `#/$defs/Account` within a file, as it is called in the merged document. */
function mergedRef(ref: string, file: string, parsed: ReadonlyMap<string, Schema>): string {
  const [, target = file, name = ''] = /^([^#/]+\.json)?#\/\$defs\/(\w+)$/.exec(ref) ?? [];
  if (parsed.get(target)?.$defs?.[name] === undefined) throw new Error(`${file}: '${ref}' refers to nothing`);
  return `#/$defs/${name}`;
}

const combinators = ['allOf', 'anyOf', 'oneOf'];
const copied = ['type', 'enum', 'const', 'required', 'description', 'deprecated'];

/** The parts of a schema that make its type; patterns, bounds, conditions and the like only confuse the compiler. */
function typeOnly(schema: unknown, refer: (ref: string) => string): Schema | boolean {
  if (typeof schema === 'boolean') return schema;
  const from = schema as Schema;
  const each = (schemas: unknown) => Object.values(schemas as object).map((member) => typeOnly(member, refer));
  const type: Schema = {};
  for (const [keyword, value] of Object.entries(from)) {
    if (copied.includes(keyword)) type[keyword] = value;
    else if (keyword === 'items' || keyword === 'additionalProperties') type[keyword] = typeOnly(value, refer);
    else if (keyword === 'prefixItems') type[keyword] = each(value);
    else if (keyword === 'properties' || keyword === 'patternProperties') {
      const members = Object.keys(value as object);
      type[keyword] = Object.fromEntries(each(value).map((member, at) => [members[at], member]));
    } else if (combinators.includes(keyword)) {
      const saying = each(value).filter(saysSomething);
      const whole = keyword === 'allOf' || saying.length === (value as unknown[]).length;
      if (whole && saying.length > 0) type[keyword] = saying;
    }
  }
  if (type['type'] === 'object' && !type['properties'] && !type['patternProperties'])
    type['additionalProperties'] ??= true;
  if (type['prefixItems']) {
    // Draft 4, which the compiler speaks, has the members of a tuple under `items` and the rest beside it.
    const { prefixItems, items = true } = type;
    Object.assign(type, { items: prefixItems, additionalItems: items, minItems: (prefixItems as unknown[]).length });
    delete type['prefixItems'];
  }
  if (from.$ref === undefined) return type;
  const target = { $ref: refer(from.$ref) };
  // The compiler takes a reference with anything beside it for a new type, so a mere comment there must go.
  return saysSomething(type) ? { allOf: [target, type] } : target;
}

/** False for schemas that only narrow: `{}` or, as a member of anyOf, `{"required": ["name"]}`. */
function saysSomething(type: Schema | boolean): boolean {
  return Object.keys(type).some((keyword) => !['description', 'deprecated', 'required'].includes(keyword));
}

/** Brings `target` up to date with the schemas; leaves it alone when it is. */
export async function writeWireTypes(folder: string, target: string): Promise<void> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const files = new Map(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  const inputs = JSON.stringify([readFileSync(import.meta.filename, 'utf8'), ...files]);
  const banner = `// Made from schemas/*.json by packaging/generate-wire.ts, inputs ${sha256(inputs)}. Not to be edited.\n`;
  if (readIfPresent(target).startsWith(banner)) return;
  writeGenerated(target, banner + (await wireTypes(files)));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

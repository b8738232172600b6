// Writes src/contract/config-validator.ts, the code that checks a configuration against schemas/config.json. Every command reads the
// configuration, and to compile its schema took a third of the processor time of `larder status` (`npm run bench -- start`).
import { readFileSync } from 'node:fs';

import standalone from 'ajv/dist/standalone/index.js';

import { createAjv } from '#contract/schema.ts';
import { writeGenerated } from './write-generated.ts';

const head = `// @ts-nocheck
// Made from schemas/config.json by packaging/generate-config-validator.ts. Not to be edited.
import { isDeepStrictEqual } from 'node:util';
import { charactersOf } from './characters.ts';

export interface ConfigValidator {
  (values: unknown): boolean;
  errors?: { instancePath: string; keyword: string; params: Record<string, unknown> }[] | null;
}
`;

type Schema = Record<string, unknown>;

const annotations = new Set(['description', 'default', 'examples', 'writeOnly', 'deprecated', 'x-since']);

/** The module for the text of schemas/config.json; it finds the same problems as `findProblems('Config', …)`. */
export function configValidator(schema: string): string {
  const ajv = createAjv(true, { source: true, esm: true, lines: true });
  ajv.addSchema(withoutAnnotations(JSON.parse(schema) as Schema), 'config.json');
  const code = standalone
    .default(ajv, { validateConfig: 'config.json#/$defs/Config' })
    .replace('"use strict";', '')
    .replace('const validateConfig =', 'const validateConfig: ConfigValidator =')
    .replaceAll('require("ajv/dist/runtime/equal").default', 'isDeepStrictEqual');
  if (/\brequire\(/.test(code)) throw new Error('cannot check a configuration without ajv: its code requires a module');
  return head + code;
}

/** A schema without annotations: the code quotes its schemas, and descriptions are most of their text. */
function withoutAnnotations(schema: Schema): Schema {
  const inner = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (annotations.has(keyword)) return [];
    if (typeof value !== 'object' || value === null || keyword === 'enum') return [[keyword, value]];
    if (Array.isArray(value)) return [[keyword, value.map((each) => withoutAnnotations(each as Schema))]];
    if (keyword !== 'properties' && keyword !== '$defs') return [[keyword, withoutAnnotations(value as Schema)]];
    const members = Object.entries(value).map(([name, each]) => [name, withoutAnnotations(each as Schema)]);
    return [[keyword, Object.fromEntries(members)]];
  });
  return Object.fromEntries(inner);
}

/** Brings `target` up to date with the schema; leaves it alone when it is. */
export function writeConfigValidator(schema: string, target: string): void {
  writeGenerated(target, configValidator(readFileSync(schema, 'utf8')));
}

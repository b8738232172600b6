// Validates values against the shapes in schemas/. The only file that imports ajv.
import { _, str, type CodeKeywordDefinition, type CodeOptions, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { readDateTime } from '#domain/date-time.ts';
import { Refusal } from '#domain/refusal.ts';
import { embeddedNames, embeddedText } from '#platform/embedded.ts';
import { charactersOf } from './characters.ts';
import type { Wire } from './wire.ts';

export type ShapeName = keyof Wire;

/** One problem of a value: the place (JSON pointer) and the reason. */
export interface Problem {
  pointer: string;
  keyword: string;
  message: string;
  params: Record<string, unknown>;
}

/** Refuses a value that does not have the shape, and names the first problem. */
export function checkShape<S extends ShapeName>(shape: S, value: unknown): asserts value is Wire[S] {
  const validate = first.validator(shape);
  if (validate(value)) return;
  const [problem] = validate.errors ?? [];
  throw new Refusal('api-error', problem === undefined ? `The request is no ${shape}.` : inWords(problem, value));
}

/** Every problem of a value; empty if it has the shape. */
export function findProblems(shape: ShapeName, value: unknown): Problem[] {
  const validate = all.validator(shape);
  if (validate(value)) return [];
  return (validate.errors ?? []).map((error) => ({
    pointer: error.instancePath,
    keyword: error.keyword,
    message: inWords(error, value),
    params: error.params,
  }));
}

export interface ShapeDefinition {
  file: string;
  shape: ShapeName;
  schema: Record<string, unknown>;
}

let stated: readonly ShapeDefinition[] | undefined;

/** All shapes, by file. */
export const shapes = (): readonly ShapeDefinition[] =>
  (stated ??= [...files()].flatMap(([file, { $defs }]) =>
    Object.entries($defs).map(([shape, schema]) => ({ file, shape: shape as ShapeName, schema })),
  ));

/** The maximum number of items in a list of a shape. */
export function maxItemsOf(shape: ShapeName, property: string): number {
  const properties = shapes().find((candidate) => candidate.shape === shape)?.schema['properties'] as Record<
    string,
    { maxItems?: number }
  >;
  const maxItems = properties[property]?.maxItems;
  if (maxItems === undefined)
    throw new Error(`cannot tell how long '${property}' of '${shape}' may be: schemas/ has no bound`);
  return maxItems;
}

interface SchemaFile {
  $defs: Record<string, Record<string, unknown>>;
}

let read: ReadonlyMap<string, SchemaFile> | undefined;

const files = (): ReadonlyMap<string, SchemaFile> =>
  (read ??= new Map(
    embeddedNames('schemas').map((file) => [file, JSON.parse(embeddedText(`schemas/${file}`)) as SchemaFile]),
  ));

/**
 * Compiles shapes at their first use, and gives ajv their file and the files that it refers to only then. All of them at start would take a
 * third of a second (`npm run bench -- start`), and a command uses only the file of the configuration. A test checks that the files are
 * valid JSON Schema: a check here would compile the meta schema first, a fifth of a start. The code optimization of ajv is off: it takes a
 * third of the compile time and does not make the code faster.
 */
class Validators {
  readonly #allErrors: boolean;
  readonly #compiled = new Map<ShapeName, ValidateFunction>();
  readonly #added = new Set<string>();
  #ajv: Ajv2020 | undefined;

  constructor(allErrors: boolean) {
    this.#allErrors = allErrors;
  }

  validator(shape: ShapeName): ValidateFunction {
    let compiled = this.#compiled.get(shape);
    if (compiled === undefined) {
      const home = shapes().find((candidate) => candidate.shape === shape)?.file;
      const ajv = (this.#ajv ??= createAjv(this.#allErrors));
      if (home !== undefined) {
        this.#add(ajv, home);
        compiled = ajv.getSchema(`${home}#/$defs/${shape}`);
      }
      if (compiled === undefined) throw new Error(`cannot check '${shape}': no such shape in schemas/`);
      this.#compiled.set(shape, compiled);
    }
    return compiled;
  }

  /** Adds a file, and the files that it refers to. */
  #add(ajv: Ajv2020, file: string): void {
    const schema = files().get(file);
    if (schema === undefined || this.#added.has(file)) return;
    this.#added.add(file);
    ajv.addSchema(schema, file);
    for (const [, other = ''] of JSON.stringify(schema).matchAll(/"\$ref":"([^"#]+)#/g)) this.#add(ajv, other);
  }
}

/** Ajv with the settings of this store; `packaging/generate-config-validator.ts` has it write its code. */
export function createAjv(allErrors: boolean, code: CodeOptions = { optimize: false }): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors,
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    meta: false,
    validateSchema: false,
    code,
  });
  ajv.removeKeyword('maxLength').removeKeyword('minLength').addKeyword(lengths);
  ajv.addKeyword('x-since');
  ajv.addFormat('date-time', isDateTime);
  return ajv;
}

const first = new Validators(false);
const all = new Validators(true);

/**
 * Ajv counts the characters of every text: 8.5 µs for a refresh of thirty snaps, against 1.3 µs here (`npm run bench -- devices`). The
 * number of characters is at most the length and at least half of it; only lengths in between are counted.
 */
const lengths: CodeKeywordDefinition = {
  keyword: ['maxLength', 'minLength'],
  type: 'string',
  schemaType: 'number',
  error: {
    message: ({ keyword, schemaCode }) =>
      str`must NOT have ${keyword === 'maxLength' ? 'more' : 'fewer'} than ${schemaCode} characters`,
    params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
  },
  code(context) {
    const { keyword, data, schemaCode: limit } = context;
    const count = context.gen.scopeValue('func', { ref: charactersOf, code: _`charactersOf` });
    context.fail(
      keyword === 'maxLength'
        ? _`${data}.length > ${limit} && ${count}(${data}) > ${limit}`
        : _`${data}.length < 2 * ${limit} && ${count}(${data}) < ${limit}`,
    );
  },
};

/** Whether the text is RFC 3339 with a zone and a real calendar day. */
export const isDateTime = (text: string): boolean => readDateTime(text) !== undefined;

/** The problem and its place, in the wording that clients of this interface know. */
function inWords(error: ErrorObject, value: unknown): string {
  const at = `at ${error.instancePath === '' ? '/' : error.instancePath}`;
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'additionalProperties':
      return `Additional properties are not allowed ('${String(params['additionalProperty']).slice(0, 100)}' was unexpected) ${at}`;
    case 'required':
      return `'${String(params['missingProperty'])}' is a required property ${at}`;
    case 'enum':
      return `${shown(error.instancePath, value, true)} is not one of ${JSON.stringify(params['allowedValues'])} ${at}`;
    case 'const':
      return `${shown(error.instancePath, value, true)} is not ${JSON.stringify(params['allowedValue'])} ${at}`;
    case 'type':
      return `${shown(error.instancePath, value)} is not of type ${String(params['type']).replaceAll(',', ' or ')} ${at}`;
    default:
      return `${shown(error.instancePath, value)} ${error.message ?? 'is not valid'} ${at}`;
  }
}

/**
 * The invalid value, as far as the log may contain it: a text may be a token or a password in the wrong place. A short text is shown if the
 * shape expects one of a few words.
 */
function shown(pointer: string, value: unknown, isWord = false): string {
  let current = value;
  for (const part of pointer.split('/').slice(1)) {
    current = (current as Record<string, unknown> | undefined)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  if (Array.isArray(current)) return 'This list';
  if (typeof current === 'object' && current !== null) return 'This object';
  if (typeof current === 'string' && !(isWord && current.length <= 30)) return 'This text';
  return current === undefined ? 'The value' : JSON.stringify(current);
}

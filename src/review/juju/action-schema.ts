// Checks that a value is a JSON schema of draft 4, as juju does for the parameters of actions (juju/gojsonschema
// v1.0.0: schema.go, schemaType.go and subSchema.go).
import { quoted } from '../unacceptable.ts';
import type { TypedYaml } from '../yaml.ts';
import { isGoPattern } from './go-pattern.ts';
import {
  isNonText,
  listOf,
  mapOf,
  membersOf,
  mistyped,
  describePlace,
  optional,
  refused,
  textOf,
  type YamlMembers,
  type YamlPlace,
} from './values.ts';

const types = ['array', 'boolean', 'integer', 'number', 'null', 'object', 'string'];

/** Throws `Unacceptable` if the value is not a schema. */
export function checkSchema(value: TypedYaml, place: YamlPlace): void {
  const schema = membersOf(value, place);
  if (schema.has('$ref')) throw refused(place, `'$ref' stands in ${describePlace(place)}, and juju takes none`);
  for (const key of ['$id', '$subSchema', 'title', 'description']) optional(schema, key, place, textOf);
  optional(schema, 'type', place, checkType);
  for (const key of ['properties', 'definitions', 'patternProperties']) optional(schema, key, place, checkSchemas);
  optional(schema, 'patternProperties', place, (patterns, at) => {
    for (const pattern of membersOf(patterns, at).keys()) checkPattern(pattern, at);
  });
  optional(schema, 'dependencies', place, checkDependencies);
  for (const key of ['additionalProperties', 'additionalItems'])
    optional(schema, key, place, (more, at) => {
      if (!(isNonText(more) && more.type === 'bool')) checkSchema(more, at);
    });
  optional(schema, 'items', place, (items, at) => {
    if (Array.isArray(items)) listOf(items, at, checkSchema);
    else checkSchema(items, at);
  });
  for (const key of ['oneOf', 'anyOf', 'allOf'])
    optional(schema, key, place, (list, at) => listOf(list, at, checkSchema));
  optional(schema, 'not', place, checkSchema);
  checkValidation(schema, place);
}

function checkType(value: TypedYaml, place: YamlPlace): void {
  const checkTypeName = (text: string): void => {
    if (!types.includes(text))
      throw refused(
        place,
        `${describePlace(place)} is ${quoted(text)}, which is no type of JSON`,
        `Name one of ${types.join(', ')}.`,
      );
  };
  // In a list of types, juju ignores unknown ones.
  if (Array.isArray(value)) listOf(value, place, textOf);
  else checkTypeName(textOf(value, place));
}

const checkSchemas = (value: TypedYaml, place: YamlPlace): void => {
  mapOf(value, place, checkSchema);
};

function checkDependencies(value: TypedYaml, place: YamlPlace): void {
  mapOf(value, place, (dependency, at) => {
    if (Array.isArray(dependency)) listOf(dependency, at, textOf);
    else checkSchema(dependency, at);
  });
}

/** Checks the limits of a value: bounds, patterns and lists. */
function checkValidation(schema: YamlMembers, place: YamlPlace): void {
  checkNumbers(schema, place);
  for (const [minKey, maxKey] of [
    ['minLength', 'maxLength'],
    ['minProperties', 'maxProperties'],
    ['minItems', 'maxItems'],
  ] as const) {
    const [low, high] = [optional(schema, minKey, place, countOf), optional(schema, maxKey, place, countOf)];
    // juju compares all pairs except the numbers of items.
    if (low !== undefined && high !== undefined && low > high && minKey !== 'minItems')
      throw refused(place, `${quoted(minKey)} in ${describePlace(place)} is greater than ${quoted(maxKey)}`);
  }
  optional(schema, 'uniqueItems', place, flagOf);
  optional(schema, 'pattern', place, (pattern, at) => {
    checkPattern(textOf(pattern, at), at);
  });
  optional(schema, 'required', place, (list, at) => {
    const names = listOf(list, at, textOf);
    if (new Set(names).size < names.length) throw refused(at, `${describePlace(at)} names something twice`);
  });
  optional(schema, 'enum', place, (list, at) => {
    const values = listOf(list, at, (value) => JSON.stringify(value, comparable));
    if (new Set(values).size < values.length) throw refused(at, `${describePlace(at)} has a value twice`);
  });
}

function checkNumbers(schema: YamlMembers, place: YamlPlace): void {
  const step = optional(schema, 'multipleOf', place, numberOf);
  if (step !== undefined && step <= 0)
    throw refused(place, `'multipleOf' in ${describePlace(place)} must be greater than 0`);
  const [low, high] = [optional(schema, 'minimum', place, numberOf), optional(schema, 'maximum', place, numberOf)];
  for (const [flag, bound] of [
    ['exclusiveMinimum', low],
    ['exclusiveMaximum', high],
  ] as const) {
    optional(schema, flag, place, flagOf);
    if (schema.has(flag) && bound === undefined)
      throw refused(place, `${quoted(flag)} in ${describePlace(place)} needs the bound that it speaks of`);
  }
  if (low !== undefined && high !== undefined && low > high)
    throw refused(place, `'minimum' in ${describePlace(place)} is greater than 'maximum'`);
}

/** Turns mappings into sorted lists of their members, so that equal ones give equal texts. */
const comparable = (_: string, value: unknown): unknown =>
  value instanceof Map ? { map: [...value].sort(([key], [other]) => (String(key) < String(other) ? -1 : 1)) } : value;

function checkPattern(pattern: string, place: YamlPlace): void {
  if (isGoPattern(pattern)) return;
  throw refused(place, `${quoted(pattern)} in ${describePlace(place)} is no regular expression that juju can read`);
}

function flagOf(value: TypedYaml, place: YamlPlace): void {
  if (!(isNonText(value) && value.type === 'bool')) throw mistyped(place, 'true or false', value);
}

function numberOf(value: TypedYaml, place: YamlPlace): number {
  const read = isNonText(value) && value.type !== 'bool' ? Number(value.text.replaceAll('_', '')) : undefined;
  if (read !== undefined && Number.isFinite(read)) return read;
  throw mistyped(place, 'a number', value);
}

function countOf(value: TypedYaml, place: YamlPlace): number {
  const count = numberOf(value, place);
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw refused(place, `${describePlace(place)} must be a whole number from 0 on`);
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import t from 'tap';

import { validateConfig } from '#contract/config-validator.ts';
import { readJson } from '#contract/json.ts';
import { checkShape, isDateTime, findProblems, shapes } from '#contract/schema.ts';
import { Refusal } from '#domain/refusal.ts';
import { configurationSections } from '#configuration/config.ts';
import { operations } from '#operations/index.ts';

t.test('every shape compiles in strict mode', (t) => {
  for (const { file, shape } of shapes()) {
    t.doesNotThrow(() => findProblems(shape, undefined), `${file}: ${shape}`);
  }
  t.end();
});

t.test('every file of schemas/ is JSON Schema, which the store takes for granted', (t) => {
  const folder = join(import.meta.dirname, '../../schemas');
  const ajv = new Ajv2020();
  for (const file of readdirSync(folder)) {
    // Of two definitions with one name, JSON.parse takes the second silently.
    const schema = readJson(readFileSync(join(folder, file), 'utf8')) as Record<string, unknown>;
    t.ok(ajv.validateSchema(schema), `${file}: ${ajv.errorsText()}`);
  }
  t.end();
});

t.test('every shape that is named exists, and every request bounds its texts and lists', (t) => {
  const schemas = new Map(shapes().map(({ shape, schema }) => [shape as string, schema]));
  for (const { name, query, body, response } of operations) {
    for (const shape of [query, body, response]) if (shape !== undefined) t.ok(schemas.has(shape), `${name}: ${shape}`);
    for (const shape of [query, body]) {
      if (shape === undefined) continue;
      for (const [where, open] of unbounded(schemas.get(shape), schemas))
        t.fail(`${name}: ${shape}${where} is ${open} without a bound`);
    }
  }
  t.end();
});

/** The places in a schema that allow texts or lists of any length. */
function unbounded(schema: unknown, schemas: Map<string, unknown>, where = ''): [string, string][] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { $ref, type, maxLength, maxItems, properties, items, anyOf } = schema as Record<string, unknown> & {
    $ref?: string;
  };
  if ($ref !== undefined) return unbounded(schemas.get($ref.split('/').at(-1) ?? ''), schemas, where);
  const types = [type].flat();
  return [
    ...(types.includes('string') && maxLength === undefined ? [[where, 'a text'] as [string, string]] : []),
    ...(types.includes('array') && maxItems === undefined ? [[where, 'a list'] as [string, string]] : []),
    ...Object.entries(properties ?? {}).flatMap(([name, inner]) => unbounded(inner, schemas, `${where}/${name}`)),
    ...unbounded(items, schemas, `${where}/…`),
    ...((anyOf ?? []) as unknown[]).flatMap((option) => unbounded(option, schemas, where)),
  ];
}

t.test('an error is a sentence with its place', (t) => {
  const messageOf = (value: unknown): string => {
    try {
      checkShape('RegisterNameRequest', value);
      return '';
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      t.equal(error.code, 'api-error');
      return error.message;
    }
  };
  t.equal(messageOf({ name: 'hello' }), '');
  t.equal(messageOf({ name: 'hello', x: 1 }), "Additional properties are not allowed ('x' was unexpected) at /");
  t.equal(messageOf({}), "'name' is a required property at /");
  t.equal(messageOf({ name: 3 }), '3 is not of type string at /name');
  t.equal(messageOf({ name: ['a secret'] }), 'This list is not of type string at /name');
  t.equal(messageOf('a secret'), 'This text is not of type object at /');
  t.equal(messageOf({ name: 'hello', team: 5 }), '5 is not of type string or null at /team');
  t.match(messageOf({ name: 'hello', type: 'deb' }), /^"deb" is not one of \["bin","bundle",.*\] at \/type$/);
  t.match(
    messageOf({ name: 'hello', type: 'a secret that came to the wrong place' }),
    /^This text is not one of \[.*\] at \/type$/,
  );
  t.equal(messageOf({ name: '' }), 'This text must NOT have fewer than 1 characters at /name');
  t.ok(messageOf({ [`x${'y'.repeat(5000)}`]: 1, name: 'a' }).length < 250, 'long names are cut');
  t.end();
});

t.test('the length of a text is its number of characters, not of code units', (t) => {
  const character = fc.constantFrom('a', 'ß', '€', '😀', '\ud83d', '\ude00');
  const texts = fc.array(character, { maxLength: 140 }).map((characters) => characters.join(''));
  fc.assert(
    fc.property(texts, (text) => {
      const wrong = findProblems('KeyId', text).filter(({ keyword }) => keyword !== 'pattern');
      const { length } = Array.from(text);
      const comparison = length > 64 ? 'more' : 'fewer';
      const expected = length === 64 ? [] : [`This text must NOT have ${comparison} than 64 characters at /`];
      t.strictSame(
        wrong.map(({ message }) => message),
        expected,
      );
    }),
  );
  t.end();
});

t.test('the validator of the configuration, which is made with the program, finds the problems of its schema', (t) => {
  const wrong = [
    null,
    true,
    -1,
    0.5,
    1e15,
    '',
    'x',
    '/x',
    'x'.repeat(5000),
    '😀'.repeat(60),
    [],
    ['x', 'x'],
    [1, [2]],
    {},
  ];
  const values: unknown[] = [undefined, [], 'x', {}, { unknown: 1 }, { unknown: {} }];
  for (const [section, { keys }] of configurationSections()) {
    const wrap = (value: unknown) => section.split('.').reduceRight((inner, name) => ({ [name]: inner }), value);
    values.push(...[...wrong, { unknown: 1 }].map(wrap));
    for (const key of keys.keys()) values.push(...wrong.map((value) => wrap({ [key]: value })));
  }
  let problemCount = 0;
  for (const value of values) {
    const problems = validateConfig(value) ? [] : (validateConfig.errors ?? []);
    const expected = findProblems('Config', value);
    problemCount += expected.length;
    t.strictSame(
      problems.map(({ instancePath, keyword, params }) => ({ pointer: instancePath, keyword, params })),
      expected.map(({ pointer, keyword, params }) => ({ pointer, keyword, params })),
    );
  }
  t.ok(problemCount > values.length, `${String(problemCount)} problems in ${String(values.length)} configurations`);
  t.end();
});

t.test('a date-time is RFC 3339 with a zone, on a day that the calendar has', (t) => {
  for (const text of [
    '2026-03-01T12:00:00Z',
    '2026-03-01T12:00:00.123456789+02:00',
    '2024-02-29T23:59:59-11:30',
    '0001-01-01T00:00:00Z',
  ]) {
    t.ok(isDateTime(text), text);
  }
  for (const text of [
    '',
    '2026-03-01',
    '2026-03-01T12:00:00',
    '2026-03-01 12:00:00Z',
    '2026-02-29T12:00:00Z',
    '2026-13-01T12:00:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T12:60:00Z',
    '2026-03-01T12:00:00z',
    '2026-03-01T12:00:00+24:00',
    '2026-03-01T12:00:00.Z',
    '2026-03-01T12:00:00.1234567890Z',
    '02026-03-01T12:00:00Z',
    '２０26-03-01T12:00:00Z',
    ' 2026-03-01T12:00:00Z',
    '2026-03-01T12:00:00Z\n',
  ]) {
    t.notOk(isDateTime(text), JSON.stringify(text));
  }
  t.end();
});

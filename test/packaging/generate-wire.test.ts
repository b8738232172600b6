import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { wireTypes, writeWireTypes } from '../../packaging/generate-wire.ts';

const file = ($defs: object) => JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', $defs });
const account = file({
  Account: { type: 'object', required: ['id'], properties: { id: { type: 'string' }, title: { type: 'string' } } },
});
/** The types without the index, on one line. */
const types = async (files: Record<string, string>) => {
  const text = await wireTypes(new Map(Object.entries(files)));
  return text.replace(/\s*\/\*\*.*?\*\/\s*|\s+/gs, ' ').replace(/export interface Wire \{.*?\}/, '');
};

t.test('a shape that two files share is one type', async (t) => {
  const names = file({
    Owner: { $ref: 'account.json#/$defs/Account', description: 'Whose it is.' },
    Request: {
      type: 'object',
      properties: {
        owner: { $ref: 'account.json#/$defs/Account', description: 'Theirs.' },
        by: { $ref: '#/$defs/Owner' },
      },
    },
  });
  const text = await types({ 'account.json': account, 'names.json': names });
  t.equal(text.split('id: string').length, 2);
  t.match(text, 'export type Owner = Account;');
  t.match(text, 'export interface Request { owner?: Account; by?: Owner; }');
});

t.test('every shape is in the index', async (t) => {
  const text = await wireTypes(new Map([['account.json', account]]));
  t.match(text, /export interface Wire \{\n  Account: Account;\n\}/);
});

t.test('an object has the members that are stated, and any only when nothing is', async (t) => {
  const text = await types({
    'a.json': file({
      Closed: { type: 'object', properties: { a: { type: 'string' } } },
      Free: { type: 'object' },
      Links: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' }, maxItems: 3 } },
    }),
  });
  t.match(text, 'export interface Closed { a?: string; }');
  t.match(text, 'export interface Free { [k: string]: unknown; }');
  t.match(text, 'export interface Links { [k: string]: string[]; }');
});

t.test('conditions and bounds are for the validator', async (t) => {
  const text = await types({
    'a.json': file({
      Either: {
        type: 'object',
        properties: { a: { type: 'string', pattern: '^x' }, b: { type: ['integer', 'null'], minimum: 1 } },
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
        if: { properties: { a: { const: 'x' } } },
        then: { required: ['b'] },
      },
      Pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
    }),
  });
  t.match(text, 'export interface Either { a?: string; b?: number | null; }');
  t.match(text, 'export type Pair = [string, number];');
});

t.test('an impossible schema is refused, by file and name', async (t) => {
  await t.rejects(types({ 'a.json': file({ A: { $ref: 'b.json#/$defs/B' } }) }), {
    message: /^a\.json: .*refers to nothing/,
  });
  await t.rejects(types({ 'a.json': account, 'b.json': account }), {
    message: /^b\.json: 'Account' is already defined/,
  });
  await t.rejects(types({ 'a.json': file({ small: {} }) }), { message: /'small' is not in PascalCase/ });
  await t.rejects(types({ 'a.json': '{' }), { message: /^cannot read a\.json/ });
});

t.test('the types are written again only when a schema has changed', async (t) => {
  const folder = t.testdir({ schemas: { 'account.json': account } });
  const [schemas, target] = [join(folder, 'schemas'), join(folder, 'contract/wire.ts')];
  await writeWireTypes(schemas, target);
  utimesSync(target, 1, 1);
  await writeWireTypes(schemas, target);
  t.equal(statSync(target).mtimeMs, 1000);
  writeFileSync(join(schemas, 'account.json'), account.replaceAll('title', 'label'));
  await writeWireTypes(schemas, target);
  t.match(readFileSync(target, 'utf8'), 'label?: string;');
});

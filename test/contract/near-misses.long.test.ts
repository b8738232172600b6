// Bodies that nearly fit their shapes, sent to every operation: a 2xx or a 4xx, never a fault of ours.
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import { findProblems, shapes, type ShapeName } from '#contract/schema.ts';
import { identityOperations } from '#identity/operations.ts';
import { operations } from '#operations/index.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { addBrand } from '#test/fixtures/brands.ts';
import { anyCharacter } from '#test/fixtures/characters.ts';
import { exchange } from '#test/fixtures/clients/exchange.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { pathOf } from '#test/fixtures/contract/requests.ts';
import { awkward, fitting, nearMisses } from '#test/fixtures/contract/shapes.ts';

const long = process.env['LARDER_LONG'] === '1';
const runs = long ? 2000 : 3;

/** Gives ada a brand and a snap with three revisions, and seals the store: no body that fits then makes a key, which takes a second or two. */
async function sealedWithHello(store: TestAppliance) {
  const ada = await store.as('ada');
  const brand = await addBrand(store, 'ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body;
  for (const revision of [1, 2, 3]) await addRevision(store, id, revision, { details: { architectures: ['amd64'] } });
  rmSync(join(store.directory, 'master.key'));
  store.appliance.reload();
  return { ada, subject: { namespace: 'snap', name: 'hello', brand_account_id: brand, package_id: id, snap_id: id } };
}

/** The log without what the store says of itself: that it is sealed. */
const faultsIn = (log: readonly string[]): string => log.filter((line) => !line.includes('"fault":"sealed"')).join('');

t.test('no body breaks an operation', async (t) => {
  const store = await startStore(t);
  const { ada, subject } = await sealedWithHello(store);

  // Writes that the store makes by itself, such as sealing the log, may come between.
  const audited = async () => (await store.beside.records.audit.head())?.seq;

  for (const op of operations.filter(({ body }) => body !== undefined)) {
    const shape = op.body as ShapeName;
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 5, arbitrary: nearMisses(shape) }, fitting(shape), awkward), async (body) => {
        const before = await audited();
        const { status, text: answer } = await exchange(store.url + pathOf(op, subject), {
          method: op.method,
          headers: { authorization: `Macaroon ${ada.token}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
          redirect: 'manual',
        });
        const sealed = status === 503 && answer.includes('"sealed"');
        if (status >= 300 && status < 400) throw new Error(`a redirect: ${status}`);
        if (status >= 500 && !sealed) throw new Error(`${status}: ${answer}; ${store.log.at(-1) ?? ''}`);
        // Every change has its entry in the audit log: without one, nothing was left behind.
        if (status >= 400 && op.since > 0 && (await audited()) !== before) throw new Error(`changed by a ${status}`);
        if (status >= 400 && op.errors === undefined && !sealed) {
          const { 'error-list': ours, error_list: others } = JSON.parse(answer) as Record<
            string,
            { message: string }[]
          >;
          const errors = ours ?? others ?? [];
          if (!errors[0] || !/.{8,}/.test(errors[0].message)) throw new Error(`no sentence: ${answer}`);
          if (errors[0].message.length > 2000) throw new Error(`a message of ${errors[0].message.length} characters`);
        }
      }),
      { numRuns: runs },
    );
    t.pass(`${op.method} ${op.path}`);
  }
  t.notMatch(faultsIn(store.log), '"level":"error"');
});

/** Members that every object inherits, or that something might take for its own. */
const inherited = ['valueOf', 'toString', 'constructor', '__proto__', 'hasOwnProperty', 'toJSON', 'length', 'then'];

/** Objects with such members, as JSON: JSON.stringify cannot write `__proto__`. */
const alone = inherited.flatMap((name) => ['{}', 'null', '1'].map((value) => `{"${name}":${value}}`));
const together = ['{}', '1', 'null'].map((value) => `{${inherited.map((name) => `"${name}":${value}`).join()}}`);
let turn = 0;

/** All of them; in the short form the values with every member, and one of the others in turn. */
const hostile = (): string[] => (long ? [...alone, ...together] : [alone[turn++ % alone.length]!, ...together]);

/** Bodies as JSON that fit a shape except for one list, or one object, of each kind that the shape has. */
function* poisoned(shape: ShapeName): Generator<string> {
  yield* hostile();
  for (const fragment of hostile()) yield `[${fragment},${fragment}]`;
  const seen = new Set<string>();
  const mark = '"\u0001"';
  const walk = function* (body: unknown, value: unknown, path: string): Generator<string> {
    if (typeof value !== 'object' || value === null) return;
    const isNew = !seen.has(path);
    seen.add(path);
    if (isNew && Array.isArray(value)) {
      const list = value as unknown[];
      const originals = list.splice(0, list.length, '\u0001', '\u0001');
      for (const fragment of hostile()) yield JSON.stringify(body).replaceAll(mark, fragment);
      list.unshift(...originals);
      for (const fragment of hostile()) yield JSON.stringify(body).replaceAll(mark, fragment);
      list.splice(0, list.length, ...originals);
    } else if (isNew) {
      const object = value as Record<string, unknown>;
      object['\u0001'] = '\u0001';
      for (const fragment of hostile()) yield JSON.stringify(body).replace(`${mark}:${mark}`, fragment.slice(1, -1));
      Reflect.deleteProperty(object, '\u0001');
    }
    for (const [name, inner] of Object.entries(value))
      yield* walk(body, inner, `${path}/${Array.isArray(value) ? '*' : name}`);
  };
  for (const body of fc.sample(fitting(shape), { numRuns: long ? 20 : 2, seed: 7 })) yield* walk(body, body, '');
}

t.test('no member that every object inherits breaks an operation', async (t) => {
  const store = await startStore(t, (text) =>
    text.replace(/^(?:# ?)?(package_permissions|build_records) = .*$/gm, '$1 = true'),
  );
  const { ada, subject } = await sealedWithHello(store);

  const withBody = [...operations, ...identityOperations].filter(({ body }) => body !== undefined);
  for (const op of withBody) {
    const shape = op.body as ShapeName;
    let [sent, refused] = [0, 0];
    for (const body of poisoned(shape)) {
      const { status, text: answer } = await exchange(store.url + pathOf(op, subject), {
        method: op.method,
        headers: { authorization: `Macaroon ${ada.token}`, 'content-type': 'application/json' },
        body,
      });
      const isSealed = status === 503 && answer.includes('"sealed"');
      sent++;
      if (status >= 400) refused++;
      if ((status >= 500 && !isSealed) || (status < 400 && findProblems(shape, JSON.parse(body)).length > 0)) {
        t.fail(`${op.method} ${op.path} answers ${String(status)} to ${body.slice(0, 200)}: ${answer}`);
      }
    }
    t.ok(refused > 0, `${op.method} ${op.path}: ${String(refused)} of ${String(sent)} are refused`);
  }
  t.notMatch(faultsIn(store.log), '"level":"error"');
});

t.test('a list with distinct members does not compare objects', (t) => {
  const unequal = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { uniqueItems, items } = schema as { uniqueItems?: boolean; items?: { type?: string; $ref?: string } };
    const type = items?.type ?? shapes().find(({ shape }) => items?.$ref === `#/$defs/${shape}`)?.schema['type'];
    // Objects are compared by content, and a foreign `valueOf` would be called.
    if (uniqueItems === true) t.ok(['string', 'integer', 'number', 'boolean'].includes(String(type)), path);
    for (const [name, inner] of Object.entries(schema)) unequal(inner, `${path}/${name}`);
  };
  for (const { shape, schema } of shapes()) unequal(schema, shape);
  t.end();
});

t.test('no query breaks an operation', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const brand = await addBrand(store, 'ada');
  await ada.post('/v1/snap', { name: 'hello' });
  const subject = { namespace: 'snap', name: 'hello', brand_account_id: brand };
  const names = [
    'fields',
    'limit',
    'revision',
    'include-craft-yaml',
    'include-collaborations',
    'include-inactive',
    'upload-id',
    'cursor',
    'page-size',
    'package',
    'x',
    '',
    '__proto__',
    'constructor',
  ];
  const value = fc.oneof(
    fc.constantFrom(
      '',
      '0',
      '-1',
      '00',
      '9999999999',
      '1e9',
      'true',
      'false',
      'null',
      '%00',
      '\u0000',
      'name,id,,',
      '*',
      '__proto__',
      'x'.repeat(3000),
      '\ufeff',
    ),
    fc.string({ unit: anyCharacter, maxLength: 20 }),
  );
  const query = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 4 });
  for (const op of operations.filter(({ method, name }) => method === 'GET' && name !== 'wait_token')) {
    await fc.assert(
      fc.asyncProperty(query, async (members) => {
        const text = members
          .map(([name, fieldValue]) => `${encodeURIComponent(name)}=${encodeURIComponent(fieldValue.toWellFormed())}`)
          .join('&');
        const response = await fetch(`${store.url}${pathOf(op, subject).split('?')[0] ?? ''}?${text}`, {
          headers: { authorization: `Macaroon ${ada.token}` },
          redirect: 'manual',
          signal: AbortSignal.timeout(60_000),
        });
        const answer = await response.text();
        if (response.status >= 500) throw new Error(`${response.status}: ${answer}; ${store.log.at(-1) ?? ''}`);
      }),
      { numRuns: Math.ceil(runs / 2) },
    );
    t.pass(`${op.method} ${op.path}`);
  }
});

t.test('no path breaks the router', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const segment = fc.oneof(
    fc.constantFrom(
      'v1',
      'snap',
      'charm',
      'hello',
      'tokens',
      'brand',
      'revisions',
      'releases',
      'publishergw',
      'internal',
      'icons',
      '...',
      '__proto__',
      'toString',
      '%F0%9F%98%80',
      ':name',
      '*',
      '{x}',
      '(',
      ')',
    ),
    fc.string({ unit: 'grapheme-ascii', maxLength: 12 }).map((text) => encodeURIComponent(text)),
    fc.string({ unit: anyCharacter, maxLength: 8 }).map((text) => encodeURIComponent(text.toWellFormed())),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(segment, { maxLength: 7 }),
      fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
      async (segments, method) => {
        const response = await fetch(`${store.url}/${segments.join('/')}`, {
          method,
          headers: { authorization: `Macaroon ${ada.token}` },
          redirect: 'manual',
          signal: AbortSignal.timeout(60_000),
        });
        await response.arrayBuffer();
        if (response.status >= 300 && response.status < 400) throw new Error(`a redirect: ${response.status}`);
        if (response.status >= 500) throw new Error(`${response.status}; ${store.log.at(-1) ?? ''}`);
      },
    ),
    { numRuns: runs * 10 },
  );
  t.pass('every path');
});

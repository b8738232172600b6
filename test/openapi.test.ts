// The contract as programs read it: its difference shows in every commit that moves it.
import t from 'tap';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createConfig, lintFromString } from '@redocly/openapi-core';

import { openapi } from '#api/openapi.ts';
import { identityOperations } from '#identity/operations.ts';
import { operations as ours } from '#operations/index.ts';
import { startStore } from '#test/fixtures/appliance.ts';

/** What a store serves: its own operations and those of the identity provider inside. */
const operations = [...ours, ...identityOperations];
const kept = join(import.meta.dirname, 'fixtures/openapi.json');

t.test('the document is the kept one; LARDER_KEEP=1 keeps the new one', (t) => {
  const text = `${JSON.stringify(openapi(operations, '0'), undefined, 2)}\n`;
  if (process.env['LARDER_KEEP'] === '1') writeFileSync(kept, text);
  t.equal(text, readFileSync(kept, 'utf8'));
  t.end();
});

t.test('every reference leads somewhere, and every operation has a name of its own', (t) => {
  const document = openapi(operations, '0') as {
    components: { schemas: Record<string, unknown> };
    paths: Record<string, Record<string, { operationId: string; parameters?: { name: string; in: string }[] }>>;
  };
  for (const [, name = ''] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    t.ok(name in document.components.schemas, name);
  }
  t.notMatch(JSON.stringify(document), /\$defs|\.json#/);
  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  t.equal(new Set(all.map(({ operationId }) => operationId)).size, operations.length);
  for (const [path, methods] of Object.entries(document.paths)) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    for (const { parameters = [] } of Object.values(methods)) {
      t.strictSame(
        parameters.filter((one) => one.in === 'path').map(({ name }) => name),
        named,
        path,
      );
    }
  }
  t.end();
});

t.test('a linter from elsewhere has nothing to say about it', async (t) => {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // Official clients ask for these very addresses: some end with a slash, and one section's paths cross another's,
      // where what is written out goes before what is a parameter.
      'no-path-trailing-slash': 'off',
      'no-ambiguous-paths': 'off',
    },
  });
  const source = JSON.stringify(openapi(operations, '0'));
  const found = await lintFromString({ source, absoluteRef: join(import.meta.dirname, 'openapi.json'), config });
  t.strictSame(
    found.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`),
    [],
  );
});

t.test('the documents are served as pages that ask nothing of anybody else', async (t) => {
  const store = await startStore(t);
  const served = await store.anyone.get('/openapi.json');
  t.match(served, { status: 200, body: { openapi: '3.1.0' } });
  const { paths } = served.body as { paths: Record<string, Record<string, { operationId: string }>> };
  t.strictSame(
    new Set(Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))),
    new Set(operations.map(({ name }) => name)),
    'every operation is in it, those of the identity provider too',
  );
  const { body: home } = await store.anyone.get('/docs/');
  const links = [...String(home).matchAll(/href="(\/docs\/[a-z.-]*)"/g)].map(([, path]) => path!);
  t.ok(links.length >= 9);
  const anchors = new Map<string, string>();
  for (const path of new Set(links)) {
    const { status, headers, body } = await store.anyone.get(path);
    t.equal(status, 200, path);
    t.match(headers.get('content-security-policy'), /default-src 'none'; style-src 'self'/);
    t.notMatch(
      body,
      /<script|style=|src="|https?:\/\/(?!STORE|127)[a-z]+\.(?!example)/,
      `${path} fetches nothing and runs nothing`,
    );
    anchors.set(path, body as string);
  }
  for (const [path, body] of anchors) {
    for (const [, page = '', id = ''] of body.matchAll(/href="(\/docs\/[a-z.-]*)?#([\w-]+)"/g)) {
      t.match(anchors.get(page || path), ` id="${id}"`, `${path}: ${page}#${id}`);
    }
  }
  const operationsPage = anchors.get('/docs/operations') ?? '';
  for (const { name } of operations) t.match(operationsPage, ` id="${name}"`);
  t.match(await store.anyone.get('/docs/elsewhere'), { status: 404 });
  t.match(await store.anyone.get('/docs/constructor'), { status: 404 });
});

t.test('the documents can be turned off', async (t) => {
  const store = await startStore(t, (text) => text.replace('# documents = true', 'documents = false'));
  for (const path of ['/docs/', '/docs/errors', '/openapi.json'])
    t.match(await store.anyone.get(path), { status: 404 });
});

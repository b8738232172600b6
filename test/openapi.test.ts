// The contract as programs read it: its difference shows in every commit that moves it.
import t from 'tap';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openapi } from '#api/openapi.ts';
import { operations } from '#operations/index.ts';
import { startStore } from '#test/fixtures/appliance.ts';

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

t.test('the documents are served as pages that ask nothing of anybody else', async (t) => {
  const store = await startStore(t);
  t.match(await store.anyone.get('/openapi.json'), { status: 200, body: { openapi: '3.1.0' } });
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

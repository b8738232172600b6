// The contract as programs read it: its difference shows in every commit that moves it.
import t from 'tap';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createConfig, lintFromString } from '@redocly/openapi-core';

import { examples } from '#documents/examples.ts';
import { refusalsOf } from '#documents/responses.ts';
import { openapi } from '#documents/openapi.ts';
import type { Operation } from '#http/operation.ts';
import { consoleSection } from '#console/index.ts';
import { identitySection } from '#identity/operations.ts';
import { sections as ours } from '#operations/index.ts';
import { everyAct } from '#acts/index.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { asRead } from '#test/fixtures/clients/html.ts';
import { fault } from '#test/fixtures/contract/contract.ts';
import { largeTest } from '#test/fixtures/large.ts';

/** The operations of a store: its own, and those of the identity provider inside. */
const sections = [...ours, identitySection, consoleSection];
const operations = sections.flatMap((section) => section.operations);
const operationsFile = join(import.meta.dirname, 'fixtures/operations.txt');

/** An operation in one line; its shapes are in schemas/. */
function line(op: Operation, section: string): string {
  const { name, method, path, since, access, query, body, response, status, also, asks, enabledBy } = op;
  const produces = Array.isArray(op.produces) ? (op.produces as string[]) : Object.keys(op.produces ?? {});
  const statuses = [status, ...Object.keys(also ?? {}), ...Object.keys(asks ?? {})].filter(
    (statusCode) => statusCode !== undefined,
  );
  return [
    `${method} ${path} ${name}`,
    section,
    since === 0 ? 'beside' : `since ${String(since)}`,
    access.who,
    access.permissions.join(' or '),
    `${query ?? '-'} ${body ?? op.consumes ?? '-'} ${[...(response === undefined ? [] : [response]), ...produces].join(' ') || '-'}`,
    statuses.join(' '),
    refusalsOf(op).join(' '),
    [op.errors, enabledBy, op.prefixed === false ? 'without prefix' : undefined].filter(Boolean).join(' '),
  ].join(' | ');
}

t.test('the operations are the kept ones, a line each; LARDER_KEEP=1 keeps the new ones', (t) => {
  const lines = sections.flatMap((section) => section.operations.map((op) => `${line(op, section.title)}\n`));
  if (process.env['LARDER_KEEP'] === '1') writeFileSync(operationsFile, lines.join(''));
  t.strictSame(lines, readFileSync(operationsFile, 'utf8').split(/(?<=\n)/));
  t.end();
});

t.test('every reference exists, and every operation has a name of its own', (t) => {
  const document = openapi(sections, '0') as {
    components: Record<string, Record<string, unknown>>;
    paths: Record<string, Record<string, { operationId: string; parameters?: { name: string; in: string }[] }>>;
  };
  for (const [, part = '', name = ''] of JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)) {
    t.ok(name in (document.components[part] ?? {}), name);
  }
  t.notMatch(JSON.stringify(document), /\$defs|\.json#/);
  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  t.equal(new Set(all.map(({ operationId }) => operationId)).size, operations.length);
  for (const [path, methods] of Object.entries(document.paths)) {
    const pathParameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    for (const { parameters = [] } of Object.values(methods)) {
      t.strictSame(
        parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
        pathParameters,
        path,
      );
    }
  }
  t.end();
});

largeTest('a linter from elsewhere has nothing to say about it', async (t) => {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // Official clients use these exact addresses: some end with a slash, and the paths of one section cross those of
      // another; a fixed part goes before a parameter.
      'no-path-trailing-slash': 'off',
      'no-ambiguous-paths': 'off',
    },
  });
  const source = JSON.stringify(openapi(sections, '0'));
  const problems = await lintFromString({ source, absoluteRef: join(import.meta.dirname, 'openapi.json'), config });
  t.strictSame(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`),
    [],
  );
});

t.test('every operation has an example, which a store has answered and the document allows', (t) => {
  // Clients of the first prove a key in a cookie, as those of Go's first bakery do. Clients of the second prove one in the handshake.
  const withoutExample = ['agent_login_legacy', 'finish_certificate_login'];
  const shown = operations.filter(({ name }) => !withoutExample.includes(name));
  for (const { name } of shown) t.ok(examples().has(name), `${name}; LARDER_KEEP=1 on a test that calls it keeps one`);
  for (const [name, { status, type, answer }] of examples()) {
    t.ok(
      operations.some((op) => op.name === name),
      `${name} is an operation`,
    );
    const body = answer === undefined ? undefined : JSON.stringify(answer);
    t.equal(fault({ operation: name, status, type, body }), undefined, name);
  }
  t.end();
});

t.test('the document lacks parts that the configuration turns off, until a reload', async (t) => {
  const store = await startStore(t, (text) =>
    text.replace('package_permissions = true', 'package_permissions = false'),
  );
  const listOperationIds = async (): Promise<string[]> => {
    const { body } = await store.anyone.get('/openapi.json');
    const { paths } = body as { paths: Record<string, Record<string, { operationId: string }>> };
    return Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  };
  const before = await listOperationIds();
  t.notOk(before.includes('package_permissions'));
  t.notOk(before.includes('add_buildset'), 'nor what nobody has turned on');
  t.ok(before.includes('offline_exchange_macaroon'));
  const file = join(store.directory, 'larder.toml');
  const text = readFileSync(file, 'utf8').replace('package_permissions = false', 'package_permissions = true');
  writeFileSync(file, text.replace('offline_mode = true', 'offline_mode = false'));
  store.appliance.reload();
  const after = await listOperationIds();
  t.ok(after.includes('package_permissions'));
  t.notOk(after.includes('offline_exchange_macaroon'));
});

t.test('the documents are served as pages that load nothing from other servers', async (t) => {
  const store = await startStore(t);
  const pages = new Map<string, string>();
  const unread = ['/docs/'];
  for (let path = unread.pop(); path !== undefined; path = unread.pop()) {
    if (pages.has(path)) continue;
    const { status, headers, body } = await store.anyone.get(path);
    t.equal(status, 200, path);
    t.match(headers.get('content-security-policy'), /default-src 'none'; style-src 'self'; img-src 'self'/);
    t.notMatch(
      body,
      /<script|style=|src="|https?:\/\/(?!STORE|127|store)[a-z]+\.(?!example|internal)/,
      `${path} fetches nothing and runs nothing`,
    );
    pages.set(path, body as string);
    unread.push(...[...String(body).matchAll(/href="(\/docs\/[a-z.-]*)/g)].map(([, link]) => link!));
  }
  t.ok(pages.size > 30, 'guides, sections and shapes have each a page');
  for (const [path, body] of pages) {
    for (const [, page = '', id = ''] of body.matchAll(/href="(\/docs\/[a-z.-]*)?#([\w-]+)"/g)) {
      t.match(pages.get(page || path), ` id="${id}"`, `${path}: ${page}#${id}`);
    }
  }
  for (const { name } of operations) t.match(pages.get('/docs/operations'), ` id="${name}"`);
  const rows = pages
    .get('/docs/audit')!
    .split('<tr ')
    .map((row) => asRead(row.replace(/<[^>]*>/g, '|')));
  for (const { name, outcome, summary, on, gate } of everyAct) {
    const row = rows.find((row) => row.includes(`|${name}|`) && row.includes(summary))!;
    t.match(row, on, `${name} says to what it is done`);
    t.match(
      row,
      'kinds' in gate ? `|yes: ${gate.kinds.join(', ')}|` : `|no: ${gate.never}|`,
      `${name} says whether it may wait`,
    );
    t.equal(row.includes('|, refused|'), outcome === 'refused', name);
  }
  t.match(await store.anyone.get('/docs/elsewhere'), { status: 404 });
  t.match(await store.anyone.get('/docs/constructor'), { status: 404 });
});

t.test('a browser at the root address gets a page, and a program the same response as before', async (t) => {
  const store = await startStore(t);
  const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
  const page = await store.anyone.get('/', browser);
  t.match(page.headers.get('content-type'), /^text\/html/);
  for (const to of ['/console', '/docs/']) t.match(page.body, `href="${to}"`);
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
    t.match(await store.anyone.get('/', headers), { status: 200, body: { service: 'larder' } });
  }
  const looked = await fetch(`${store.url}/`, { method: 'HEAD', headers: browser });
  t.equal(looked.headers.get('content-type'), 'application/json', 'HEAD is asked by programs');
  for (const { headers } of [page, looked, await store.anyone.get('/')]) t.equal(headers.get('vary'), 'Accept');
  t.equal(
    (await store.anyone.get('/docs')).body,
    (await store.anyone.get('/docs/')).body,
    'with the slash and without',
  );
  t.match((await store.anyone.get('/favicon.ico')).body, '<svg ');
});

t.test('the documents can be turned off, and with the console too the front door is for programs alone', async (t) => {
  const store = await startStore(t, (text) =>
    text.replace('# documents = true', 'documents = false').replace('# console = true', 'console = false'),
  );
  for (const path of ['/docs', '/docs/', '/docs/errors', '/openapi.json'])
    t.match(await store.anyone.get(path), { status: 404 });
  t.match(await store.anyone.get('/', { accept: 'text/html' }), { status: 200, body: { service: 'larder' } });
});

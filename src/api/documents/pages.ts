// The documents inside: static pages written from the operation records and the guides, readable without the internet and
// without a script.
import { permissions } from '#domain/permission.ts';
import { statuses } from '#domain/refusal.ts';
import { embeddedText } from '#src/embedded.ts';
import { openapi, schemasOf, tagOf, tags } from '../openapi.ts';
import type { Operation } from '../operation.ts';
import { shapes } from '../schema.ts';

export interface Page {
  type: string;
  text: string;
}

export interface Documents {
  /** The page at `/docs/<name>`; the empty name is the first one. */
  page(name: string): Page | undefined;
  openapi(): string;
}

const guides = {
  publisher: 'Publishing packages',
  administrator: 'Looking after the store',
  'device-gateway': 'Device gateways',
  recovery: 'When something went wrong',
} as const;

/** Written when first asked for. */
export function createDocuments(operations: readonly Operation[], version: string): Documents {
  const written = new Map<string, Page>();
  let document: string | undefined;
  const write: Record<string, () => Page> = {
    '': () => html('Documents', version, '', first()),
    operations: () => html('Operations', version, 'operations', reference(operations)),
    errors: () => html('Errors', version, 'errors', errors()),
    permissions: () => html('Permissions', version, 'permissions', permissionTable(operations)),
    shapes: () => html('Shapes', version, 'shapes', shapePages(operations)),
    'style.css': () => ({ type: 'text/css; charset=utf-8', text: embeddedText('src/api/documents/style.css') }),
    ...Object.fromEntries(
      Object.entries(guides).map(([name, title]) => [
        name,
        () => html(title, version, name, embeddedText(`src/api/documents/guides/${name}.html`)),
      ]),
    ),
  };
  return {
    page(name) {
      const writer = Object.hasOwn(write, name) ? write[name] : undefined;
      if (writer === undefined) return undefined;
      const page = written.get(name) ?? writer();
      written.set(name, page);
      return page;
    },
    openapi: () => (document ??= JSON.stringify(openapi(operations, version))),
  };
}

const menu: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ['Guides', Object.entries(guides)],
  [
    'Reference',
    [
      ['operations', 'Operations'],
      ['shapes', 'Shapes'],
      ['permissions', 'Permissions'],
      ['errors', 'Errors'],
    ],
  ],
];

function html(title: string, version: string, current: string, content: string): Page {
  const links = menu
    .map(
      ([heading, entries]) =>
        `<h2>${heading}</h2><ul>${entries
          .map(
            ([name, text]) =>
              `<li><a href="/docs/${name}"${name === current ? ' aria-current="page"' : ''}>${escape(text)}</a></li>`,
          )
          .join('')}</ul>`,
    )
    .join('');
  return {
    type: 'text/html; charset=utf-8',
    text: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · larder</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<nav aria-label="Documents"><a class="home" href="/docs/">larder</a>${links}<p class="version">Release ${escape(version)}</p></nav>
<main>
<h1>${escape(title)}</h1>
${content}
</main>
</body>
</html>
`,
  };
}

const first =
  (): string => `<p class="lead">larder keeps and serves the packages of a site without internet. These pages come from the store itself:
they are about exactly the release that runs here, and ask nothing of any other machine.</p>
<div class="cards">
${Object.entries(guides)
  .map(
    ([name, title]) =>
      `<a class="card" href="/docs/${name}"><strong>${title}</strong><span>${teasers[name as keyof typeof guides]}</span></a>`,
  )
  .join('\n')}
<a class="card" href="/docs/operations"><strong>Operations</strong><span>Every call of the interface, who may make it, and what it answers.</span></a>
<a class="card" href="/openapi.json"><strong>openapi.json</strong><span>The same for programs: OpenAPI 3.1.</span></a>
</div>`;

const teasers = {
  publisher: 'From an account to a released revision, with the tools you have.',
  administrator: 'Set up, watch, back up, upgrade: one command for each.',
  'device-gateway': 'What a gateway asks of this store, and what devices must trust.',
  recovery: 'Lost keys, damaged disks, a clock that was wrong.',
};

function reference(operations: readonly Operation[]): string {
  const sections = tags(operations).map((tag) => {
    const own = operations.filter((op) => tagOf(op) === tag);
    return `<section><h2 id="${slug(tag)}">${escape(tag)}</h2>${own.map(entry).join('\n')}</section>`;
  });
  const index = tags(operations).map((tag) => `<a href="#${slug(tag)}">${escape(tag)}</a>`);
  return `<p class="lead">Paths stand at <code>/</code> and, where not said otherwise, at <code>/publishergw</code>.</p>
<p class="index">${index.join(' ')}</p>${sections.join('\n')}`;
}

function entry(op: Operation): string {
  const { name, method, path, summary, access, since, query, body, response, enabledBy, produces } = op;
  const facts: [string, string][] = [
    ['Who', escape(access.who)],
    ...(access.permissions.length > 0
      ? ([['Needs', access.permissions.map(code).join(' or ')]] as [string, string][])
      : []),
    ...(query === undefined ? [] : ([['Query', shapeLink(query)]] as [string, string][])),
    ...(body === undefined ? [] : ([['Body', shapeLink(body)]] as [string, string][])),
    ...(response === undefined ? [] : ([['Answer', shapeLink(response)]] as [string, string][])),
    ...(produces === undefined ? [] : ([['Answers with', produces.map(code).join(', ')]] as [string, string][])),
    ...(enabledBy === undefined ? [] : ([['Only with', code(enabledBy)]] as [string, string][])),
    ['Since', since === 0 ? 'beside the interface' : `version ${String(since)}`],
  ];
  const authorization = access.who.startsWith('anyone') ? '' : " \\\n  -H 'Authorization: Macaroon TOKEN'";
  const data = body === undefined ? '' : ` \\\n  --json '${JSON.stringify(sample(body))}'`;
  const example = `curl ${method === 'GET' ? '' : `-X ${method} `}https://STORE${path.replace(/:(\w+)/g, (_, word: string) => word.toUpperCase())}${authorization}${data}`;
  return `<article id="${name}">
<h3><span class="method ${method.toLowerCase()}">${method}</span> <code>${escape(path)}</code></h3>
<p>${escape(summary)} <span class="name">${name}</span></p>
<dl>${facts.map(([term, text]) => `<dt>${term}</dt><dd>${text}</dd>`).join('')}</dl>
<pre><code>${escape(example)}</code></pre>
</article>`;
}

/** A value of a shape, as short as it is allowed to be. */
function sample(shape: string): unknown {
  const all = new Map(shapes().map((one) => [one.shape as string, one.schema]));
  const of = (schema: Record<string, unknown> | undefined, depth: number): unknown => {
    if (schema === undefined || depth > 6) return {};
    const reference = schema['$ref'];
    if (typeof reference === 'string') return of(all.get(reference.replace(/^.*\//, '')), depth + 1);
    const choices = (schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']) as Record<string, unknown>[] | undefined;
    if ('const' in schema) return schema['const'];
    const [word] = (schema['examples'] ?? schema['enum'] ?? []) as unknown[];
    if (word !== undefined) return word;
    const type = [schema['type']].flat()[0];
    if (type === 'array')
      return Number(schema['minItems'] ?? 0) > 0 ? [of(schema['items'] as Record<string, unknown>, depth + 1)] : [];
    if (type === 'string') return '…';
    if (type === 'integer' || type === 'number') return schema['minimum'] ?? 1;
    if (type === 'boolean') return true;
    if (type === 'null') return null;
    const properties = (schema['properties'] ?? {}) as Record<string, Record<string, unknown>>;
    const required = (schema['required'] ?? []) as string[];
    if (required.length === 0 && choices?.[0] !== undefined && Object.keys(properties).length === 0)
      return of(choices[0], depth + 1);
    return Object.fromEntries(required.map((name) => [name, of(properties[name], depth + 1)]));
  };
  return of(all.get(shape), 0);
}

function errors(): string {
  const rows = Object.entries(statuses).map(
    ([name, status]) => `<tr><td>${String(status)}</td><td>${code(name)}</td></tr>`,
  );
  return `<p class="lead">A refused call is answered with <code>{"error-list": [{"code", "message"}]}</code>. The code is for programs and
never changes; the message is for people and says what to do.</p>
<p>A package that is not there and one that is somebody else's are answered alike, with 404 <code>resource-not-found</code>.
429 and 507 carry <code>Retry-After</code>. A 5xx other than 503 and 507 is the store's own fault; its log has the details under
the answer's <code>x-request-id</code>.</p>
<table><thead><tr><th>Status</th><th>Code</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function permissionTable(operations: readonly Operation[]): string {
  const rows = permissions.map((permission) => {
    const open = operations.filter(({ access }) => access.permissions.includes(permission));
    const links = open.map(({ name }) => `<a href="/docs/operations#${name}">${name}</a>`);
    return `<tr><td>${code(permission)}</td><td>${links.join(', ') || '—'}</td></tr>`;
  });
  return `<p class="lead">A token holds permissions, and lets its account do what at least one of them allows. A token without a list holds
them all.</p>
<table><thead><tr><th>Permission</th><th>Operations</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function shapePages(operations: readonly Operation[]): string {
  const schemas = schemasOf(operations, true);
  return `<p class="lead">What goes in and out, as JSON Schema.</p>${Object.entries(schemas)
    .map(([name, schema]) => {
      const text = escape(JSON.stringify(schema, undefined, 2));
      const linked = text.replace(/#\/components\/schemas\/(\w+)/g, '<a href="#$1">$1</a>');
      return `<details id="${name}" open><summary>${name}</summary><pre><code>${linked}</code></pre></details>`;
    })
    .join('\n')}`;
}

const shapeLink = (shape: string): string => `<a href="/docs/shapes#${shape}">${shape}</a>`;
const code = (text: string): string => `<code>${escape(text)}</code>`;
const slug = (text: string): string => text.toLowerCase().replace(/[^a-z]+/g, '-');
const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
